"""`chmcnn serve`: a model as a service over HTTP."""

from __future__ import annotations

import math
import socket
from contextlib import nullcontext
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli._groups import Omit, OptionGroup, expand_groups
from chmcnn.cli._options import Invocation, LoadingOptions, Model
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from fastapi import FastAPI


@dataclass(frozen=True)
class _Server(OptionGroup):
    """Where the service listens, and who may use it."""

    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all of this machine's.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for a free one.")] = 8000
    token_file: Annotated[
        Path | None, typer.Option(help="File with a secret that requests must have: Authorization: Bearer SECRET.")
    ] = None
    without_token: Annotated[
        bool, typer.Option("--without-token", help="With another --host: everybody who reaches the service may use it.")
    ] = False
    origin: Annotated[
        list[str] | None, typer.Option(help="Page of another host that browsers let use the service (repeatable).")
    ] = None

    title: Annotated[str | None, typer.Option(help="Title of the page. Default: the name of the model folder.")] = None

    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer, each with the model.")] = 1

    @property
    def is_local(self) -> bool:
        """Whether only programs on this machine reach the service."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:  # another name
            return False

    def require_port(self) -> None:
        """Refuse a port that cannot be listened on, before the model is loaded."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            socket.create_server((self.host, self.port), family=family).close()
        except OSError as error:
            reason = str(error.strerror).partition(" (")[0]  # without the address once more
            raise ChmcnnError(
                f"Port {self.port} of {self.host} cannot be used: {reason}; choose another with --port."
            ) from None

    def refuse_strangers(self) -> None:
        """Refuse an address that other machines reach, unless it is said who may use the service."""
        if not self.is_local and self.token_file is None and not self.without_token:
            raise ChmcnnError(
                f"--host is {self.host!r}, so that other machines reach the service; give the secret that they need by "
                "--token-file, or --without-token to let everybody use it."
            )


@dataclass(frozen=True)
class _LimitOptions(OptionGroup):
    """What a request may ask for."""

    most_rows: Annotated[int, typer.Option(min=1, help="Rows of a request.")] = 1000
    most_megabytes: Annotated[float, typer.Option(min=0.001, help="Size of its body.")] = 10.0
    seconds: Annotated[float, typer.Option(min=0.1, help="Time until its answer.")] = 30.0


@expand_groups
def serve(
    model: Model,
    *,
    server: _Server,
    limits: _LimitOptions,
    loading: LoadingOptions,
    call: Annotated[Invocation, Omit("json", "data_dir")],
) -> None:
    r"""Answer requests over HTTP with a model, and show it in a browser: predictions, explanations and its hierarchy.

    Requests that come together are computed together. GET /openapi.json describes all requests; GET /model the columns.

    [bold]Examples[/bold]

    chmcnn serve model/

    chmcnn serve model/ --port 9000 --token-file secret.txt --workers 4

    curl localhost:8000/predict?top=5 -H 'Content-Type: text/csv' --data-binary @new.csv

    curl localhost:8000/predict -H 'Content-Type: application/json' -d '{"rows": \[{"size": 3.1, "zone": "north"}]}'
    """
    try:
        import uvicorn

        from chmcnn.serving import APPLICATION, LOOPBACK, Limits, ServiceSettings
    except ModuleNotFoundError as error:
        raise ChmcnnError(f"The service needs {error.name}: pip install 'chmcnn[serve]'.") from None
    server.refuse_strangers()
    server.require_port()
    settings = ServiceSettings(
        str(model),
        loading.device,
        Limits(limits.most_rows, round(limits.most_megabytes * 2**20), limits.seconds),
        None if server.token_file is None else str(server.token_file),
        tuple(server.origin or ()),
        (*LOOPBACK, server.host) if server.is_local and server.token_file is None else (),
        None if loading.verify_key is None else str(loading.verify_key),
        server.title,
    )
    several = server.workers > 1
    app: FastAPI | str = APPLICATION  # each process loads the model; this one only looks after them
    if several:
        settings.check()  # what is wrong is said once, and not by each process
    else:
        app = settings.create_app()
    place = f"[{server.host}]" if ":" in server.host else server.host
    call.notify(f"{model}: http://{place}:{server.port}. Ctrl-C ends the service after the requests at work.")
    with settings.shared() if several else nullcontext():
        uvicorn.run(
            app,
            factory=several,
            workers=server.workers,
            host=server.host,
            port=server.port,
            log_level="warning" if call.quiet else "info",
            access_log=not call.quiet,
            timeout_graceful_shutdown=math.ceil(limits.seconds),
            timeout_worker_healthcheck=60,  # a long call of the model may keep a worker from saying that it lives
            proxy_headers=False,
            server_header=False,
        )

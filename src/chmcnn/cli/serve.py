"""`chmcnn serve`: a model as a service over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli._groups import Omit, OptionGroup, expand_groups
from chmcnn.cli._options import ComputeOptions, Invocation, Model
from chmcnn.errors import ChmcnnError


@dataclass(frozen=True)
class _Server(OptionGroup):
    """Where the service listens, and who may use it."""

    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all of this machine's.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for a free one.")] = 8000
    token_file: Annotated[
        Path | None, typer.Option(help="File with a secret that requests must have: Authorization: Bearer SECRET.")
    ] = None
    origin: Annotated[
        list[str] | None, typer.Option(help="Page of another host that browsers let use the service (repeatable).")
    ] = None

    def read_token(self) -> str | None:
        """Return the secret."""
        if self.token_file is None:
            return None
        token = self.token_file.read_text(encoding="utf-8").strip()
        if not token.isascii() or not token.isprintable() or " " in token or not token:
            raise ChmcnnError(f"{self.token_file} has no usable secret; expected one line of letters, digits or signs.")
        return token


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
    compute: Annotated[ComputeOptions, Omit("seed")],
    call: Annotated[Invocation, Omit("json", "data_dir")],
) -> None:
    r"""Answer requests over HTTP with a model: predictions, explanations and its hierarchy.

    Requests that come together are computed together. GET /openapi.json describes all requests; GET /model the columns.

    [bold]Examples[/bold]

    chmcnn serve model/

    chmcnn serve model/ --port 9000 --token-file secret.txt

    curl localhost:8000/predict?top=5 -H 'Content-Type: text/csv' --data-binary @new.csv

    curl localhost:8000/predict -H 'Content-Type: application/json' -d '{"rows": \[{"size": 3.1, "zone": "north"}]}'
    """
    try:
        import uvicorn

        from chmcnn.serving import Limits, create_app
    except ModuleNotFoundError as error:
        raise ChmcnnError(f"The service needs {error.name}: pip install 'chmcnn[serve]'.") from None
    from chmcnn.cli import _data

    token = server.read_token()
    app = create_app(
        _data.load_model(model, compute.device),
        limits=Limits(limits.most_rows, round(limits.most_megabytes * 2**20), limits.seconds),
        token=token,
        origins=server.origin or (),
    )
    call.notify(f"{model}: http://{server.host}:{server.port}. Ctrl-C ends the service after the requests at work.")
    uvicorn.run(
        app,
        host=server.host,
        port=server.port,
        log_level="warning" if call.quiet else "info",
        timeout_graceful_shutdown=round(limits.seconds),
        server_header=False,
    )

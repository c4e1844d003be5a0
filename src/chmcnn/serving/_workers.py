"""A service by several processes: each loads the model, and all listen on one socket.

The server starts a process by the name of a function, so what the service is made of is in an environment variable. The
secret is not: each process reads its file.
"""

from __future__ import annotations

import gc
import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from chmcnn.ensemble import load_model
from chmcnn.errors import ChmcnnError, FileError
from chmcnn.report.explorer import read_facts
from chmcnn.serving._app import create_app
from chmcnn.serving._limits import Limits
from chmcnn.serving._measured import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI

    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.report.explorer import ClassFacts

_VARIABLE = "CHMCNN_SERVE"
APPLICATION = "chmcnn.serving:create_app_from_environment"
"""What each process of the server calls."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """What a service is made of, as plain values that another process can be told.

    Parameters
    ----------
    model
        Model folder.
    device
        Where the model computes, such as ``cpu`` or ``cuda``.
    limits
        What a request may ask for.
    token_file
        File with the secret that requests must have; None to answer everybody.
    origins
        Pages from other hosts that a browser may let use the service.
    hosts
        Names of this machine that requests may have in ``Host``; none to allow all.
    verify_key
        File with the public key that the model must be signed with; None for any model.
    title
        What the page calls the model; None for the name of its folder.
    """

    model: str
    device: str = "auto"
    limits: Limits = field(default_factory=Limits)
    token_file: str | None = None
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    verify_key: str | None = None
    title: str | None = None

    def check(self) -> None:
        """Raise an error if a process could not serve this. What is loaded for it is not kept."""
        self.read_token()
        self._load()
        gc.collect()

    def create_app(self) -> FastAPI:
        """Load the model, and return its service."""
        token, (model, facts) = self.read_token(), self._load()
        app = create_app(
            model,
            limits=self.limits,
            facts=facts,
            title=self.title or Path(self.model).resolve().name,
            token=token,
            origins=self.origins,
            hosts=self.hosts,
        )
        gc.collect()
        gc.freeze()  # model and modules stay: looking through them again and again would hold requests up
        return app

    def _load(self) -> tuple[HierarchicalClassifier, ClassFacts | None]:
        model = load_model(self.model, device=self.device, verify_key=self.verify_key)
        return model, read_facts(Path(self.model), model.hierarchy_, self.verify_key)

    def read_token(self) -> str | None:
        """Return the secret, or None if there is no file for it."""
        if self.token_file is None:
            return None
        try:
            token = Path(self.token_file).read_bytes().decode("utf-8", errors="replace").strip()
        except OSError as error:
            raise FileError(f"the secret cannot be read: {error.strerror}", Path(self.token_file)) from None
        if not token.isascii() or not token.isprintable() or " " in token or not token:
            raise ChmcnnError(f"{self.token_file} has no usable secret; expected one line of letters, digits or signs.")
        return token

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Tell processes that are started within this block what to serve, and where to count together."""
        with TemporaryDirectory(prefix="chmcnn-serve-") as folder:
            told = {_VARIABLE: json.dumps(asdict(self)), SHARED: folder}
            before = {name: os.environ.get(name) for name in told}
            os.environ.update(told)
            try:
                yield
            finally:
                for name, value in before.items():
                    if value is None:
                        del os.environ[name]
                    else:
                        os.environ[name] = value


def create_app_from_environment() -> FastAPI:
    """Return the service that the process which started this one was told to run."""
    told = json.loads(os.environ[_VARIABLE])
    lists = {name: tuple(told[name]) for name in ("origins", "hosts")}  # JSON has no tuples
    return ServiceSettings(**told | lists | {"limits": Limits(**told["limits"])}).create_app()

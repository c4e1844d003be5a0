"""The service as an application of ASGI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware

from chmcnn._version import __version__
from chmcnn.errors import ChmcnnError
from chmcnn.serving._description import describe_token
from chmcnn.serving._details import add_details
from chmcnn.serving._errors import tell
from chmcnn.serving._limits import Limits
from chmcnn.serving._page import add_page
from chmcnn.serving._routes import add_routes
from chmcnn.serving._service import Service
from chmcnn.serving._watch import OPEN_PATHS, Guard, Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.report import explorer


def create_app(
    model: HierarchicalClassifier,
    *,
    limits: Limits | None = None,
    facts: explorer.ClassFacts | None = None,
    title: str | None = None,
    token: str | None = None,
    origins: Sequence[str] = (),
    hosts: Sequence[str] = (),
) -> FastAPI:
    """Return a service that answers with a model.

    Parameters
    ----------
    model
        A fitted model of any system, as `chmcnn.load_model` returns it. It is only read.
    limits
        What a request may ask for.
    facts
        What a model folder has about the classes, as `chmcnn.report.explorer.read_facts` returns it: rows and measures.
    title
        What the page calls the model; by default the name of its system.
    token
        Secret that each request must have in its header ``Authorization: Bearer``; without it, everybody is answered.
    origins
        Pages from other hosts that a browser may let use the service (CORS); by default none.
    hosts
        Names, without a port, that requests may have in their header ``Host``; by default all.

    Examples
    --------
    Any server of ASGI applications runs it: ``uvicorn.run(create_app(chmcnn.load_model("model")))``.

    >>> from chmcnn import CHMCNNClassifier, Hierarchy
    >>> pets = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat")])
    >>> model = CHMCNNClassifier(pets, epochs=2, random_state=0).fit([[0.0], [1.0]] * 20, [{"dog"}, {"cat"}] * 20)
    >>> app = create_app(model, limits=Limits(rows=100))
    >>> sorted(app.openapi()["paths"])[-3:]
    ['/metrics', '/model', '/predict']
    """
    service = Service(model, limits or Limits(), facts, title)
    app = FastAPI(
        title="chmcnn",
        version=__version__,
        description="Predictions that never contradict the hierarchy of their classes.",
        lifespan=service.lifespan,
        docs_url=None,  # these pages load programs from elsewhere
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},  # nothing is sent
    )
    add_routes(app, service)
    add_details(app, service)
    add_page(app)
    if token is not None:
        describe_token(app, OPEN_PATHS)
    app.add_middleware(Guard, token=token, hosts=hosts)
    if origins:  # outside of the guard: a browser asks without a token whether it may send one
        app.add_middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=["*"], allow_headers=["*"])
    app.add_middleware(Watch, measured=service.measured)
    app.add_exception_handler(ChmcnnError, tell)
    app.add_exception_handler(RequestValidationError, tell)
    return app

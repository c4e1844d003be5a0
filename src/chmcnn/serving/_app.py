"""The routes of the service."""

from __future__ import annotations

import asyncio
import hmac
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.datastructures import Headers

from chmcnn._version import __version__
from chmcnn.errors import ChmcnnError, HierarchyError
from chmcnn.serving._answers import Answers, Options, find_answers
from chmcnn.serving._batches import Batches, concatenate
from chmcnn.serving._classes import ClassFacts, ClassIndex, ClassPage
from chmcnn.serving._limits import Limits, read_body
from chmcnn.serving._measured import Measured
from chmcnn.serving._rows import Rows, list_columns, read_rows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from chmcnn._typing import JSONValue
    from chmcnn.estimator import HierarchicalClassifier

_OPEN = "/healthz"
"""The path that needs no token."""
_LONGEST_PAGE = 1000
_SMALL = 1 << 16
"""Bytes of a body, or scores, that take less than a thread is worth."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class Reasons(BaseModel):
    """The predicted classes of a row, parents first, each with its score and its delegate."""

    name: str
    reasons: list[dict[str, Any]]


class Explanations(BaseModel):
    """Why classes were predicted, for all rows of a request."""

    rows: list[Reasons]


def create_app(
    model: HierarchicalClassifier,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    origins: Sequence[str] = (),
) -> FastAPI:
    """Return a service that answers with a model.

    Parameters
    ----------
    model
        A fitted model of any system, as `chmcnn.load_model` returns it. It is only read.
    limits
        What a request may ask for.
    token
        Secret that each request must have in its header ``Authorization: Bearer``; without it, everybody is answered.
    origins
        Pages from other hosts that a browser may let use the service (CORS); by default none.

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
    service = _Service(model, limits or Limits())
    app = FastAPI(
        title="chmcnn",
        version=__version__,
        description="Predictions that never contradict the hierarchy of their classes.",
        lifespan=service.lifespan,
        docs_url=None,  # these pages load programs from elsewhere
        redoc_url=None,
    )
    _add_routes(app, service)
    app.add_middleware(_Watch, measured=service.measured, token=token)
    if origins:
        app.add_middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=["*"], allow_headers=["*"])
    app.add_exception_handler(ChmcnnError, _tell)
    app.add_exception_handler(RequestValidationError, _tell)
    return app


class _Service:
    """A model, what is known about it, and the requests that wait for it."""

    def __init__(self, model: HierarchicalClassifier, limits: Limits) -> None:
        self.model, self.limits = model, limits
        self.measured, self.classes, self.columns = Measured(), ClassIndex(model.hierarchy_), list_columns(model)
        self.batches = Batches(model, limits, self.measured.count_batch)

    @asynccontextmanager
    async def lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        yield
        self.batches.close()

    async def read(self, request: Request) -> Rows:
        body = await read_body(request, self.limits)
        kind = request.headers.get("content-type", "")
        return await _apart(len(body), read_rows, self.model, self.columns, body, kind, self.limits.rows)

    def describe(self) -> dict[str, JSONValue]:
        """Return what is known about the model."""
        model = self.model
        return {
            "system": type(model).__name__,
            "classes": len(model.hierarchy_),
            "features": model.n_features_in_,
            "columns": [column._asdict() for column in self.columns],
            "id_column": model.id_column_,
            "settings": {name: _as_json(value) for name, value in model.get_params(deep=False).items()},
            "rows_of_training": getattr(model, "n_samples_fit_", None),
            "validation_score": getattr(model, "best_score_", None),
            "has_guarantees": model.risks_ is not None,
            "version": __version__,
        }


async def _apart(
    size: int, function: Callable[_Parameters, _Result], *arguments: _Parameters.args, **options: _Parameters.kwargs
) -> _Result:
    """Return what a function computes; in a thread if that takes long, so that other requests do not wait."""
    if size < _SMALL:
        return function(*arguments, **options)
    return await asyncio.to_thread(function, *arguments, **options)


def _as_json(value: object) -> JSONValue:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_as_json(each) for each in value]
    return type(value).__name__


_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["rows"],
                    "properties": {
                        "rows": {
                            "type": "array",
                            "minItems": 1,
                            "items": {},
                            "description": "Objects with the columns of the model (see /model), lists of numbers if "
                            "the columns have no names, texts, or sparse rows with indices and values.",
                        }
                    },
                },
                "examples": {
                    "columns": {"value": {"rows": [{"size": 3.1, "zone": "north", "note": None}]}},
                    "numbers": {"value": {"rows": [[0.5, 1.2]]}},
                    "texts": {"value": {"rows": ["a red shoe of leather"]}},
                    "sparse": {"value": {"rows": [{"indices": [3, 17], "values": [0.5, 1]}]}},
                },
            },
            "text/csv": {"schema": {"type": "string"}, "example": "size,zone,note\n3.1,north,\n"},
        },
    }
}


class _Problem(BaseModel):
    detail: str


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the errors of a route, for its description."""
    meanings = {
        401: "The token is missing or wrong.",
        404: "There is no such class.",
        408: "The body is too slow.",
        413: "Too many rows or bytes.",
        415: "Neither JSON nor CSV.",
        422: "A value cannot be used; the message names it.",
        503: "Too much to do; try again.",
    }
    return {status: {"model": _Problem, "description": meanings[status]} for status in (401, *statuses)}


_BODY_PROBLEMS = _problems(404, 408, 413, 415, 422, 503)
_Name = Annotated[str, Query(alias="class", description="Name of the class.")]
_Offset = Annotated[int, Query(ge=0, le=2**31)]
_Limit = Annotated[int, Query(ge=1, le=_LONGEST_PAGE)]


def _add_routes(app: FastAPI, service: _Service) -> None:
    @app.post("/predict", openapi_extra=_BODY, responses=_BODY_PROBLEMS, summary="Classes of rows, with scores")
    async def predict(request: Request, options: Annotated[Options, Query()]) -> Answers:
        if options.within is not None:
            service.model.hierarchy_.index(options.within)  # an unknown class is refused before any work
        rows = await service.read(request)
        scores = await service.batches.score(rows.features, len(rows.names))
        return await _apart(scores.size, find_answers, service.model, options, rows.names, scores)

    @app.post("/explain", openapi_extra=_BODY, responses=_BODY_PROBLEMS, summary="Why classes are predicted")
    async def explain(request: Request, threshold: Annotated[float | None, Query(ge=0, le=1)] = None) -> Explanations:
        rows = await service.read(request)
        found = await service.batches.run(
            lambda: service.model.explain(concatenate([rows.features]), threshold=threshold), len(rows.names)
        )
        return Explanations(
            rows=[Reasons(name=name, reasons=each.facts()) for name, each in zip(rows.names, found, strict=True)]
        )

    @app.get("/hierarchy", responses=_problems(422), summary="Classes by words of their names and titles, or the roots")
    async def hierarchy(search: str = "", offset: _Offset = 0, limit: _Limit = 50) -> ClassPage:
        return service.classes.page(service.classes.search(search), offset, limit)

    @app.get("/hierarchy/children", responses=_problems(404, 422), summary="Classes right below a class")
    async def children(name: _Name, offset: _Offset = 0, limit: _Limit = 50) -> ClassPage:
        return service.classes.page(service.model.hierarchy_.children(name), offset, limit)

    @app.get("/hierarchy/ancestors", responses=_problems(404, 422), summary="A class and all above it, roots first")
    async def ancestors(name: _Name) -> list[ClassFacts]:
        return service.classes.describe(service.classes.ancestors(name))

    @app.get("/model", responses=_problems(), summary="What the model is, and which columns it takes")
    async def describe() -> dict[str, Any]:
        return service.describe()

    @app.get(_OPEN, summary="Whether the service answers")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/metrics", responses=_problems(), summary="Counts and times, in the format of Prometheus")
    async def metrics() -> Response:
        return Response(service.measured.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


class _Watch:
    """What each request goes through: the token is checked, and time is measured."""

    def __init__(self, app: ASGIApp, measured: Measured, token: str | None) -> None:
        self._app, self._measured, self._token = app, measured, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"x-content-type-options", b"nosniff"))
            await send(message)

        try:
            await self._choose(scope)(scope, receive, watch)
        finally:
            path = getattr(scope.get("route"), "path", "other")  # not what clients make up
            self._measured.count(path, status, time.perf_counter() - start)

    def _choose(self, scope: Scope) -> ASGIApp:
        """Return the application, or the answer to a request without a valid token."""
        if self._token is None or scope["path"] == _OPEN or _is_allowed(Headers(scope=scope), self._token):
            return self._app
        return JSONResponse(
            {"detail": "The header Authorization has no valid token; expected: Bearer TOKEN."},
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )


def _is_allowed(headers: Headers, token: str) -> bool:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


async def _tell(_request: Request, error: Exception) -> Response:
    """Answer with the message of an error of ours, or with the option that is wrong."""
    status = 404 if isinstance(error, HierarchyError) else 422
    return JSONResponse({"detail": _describe(error)}, status_code=status)


def _describe(error: Exception) -> str:
    if not isinstance(error, RequestValidationError):
        return str(error)
    problems = [
        f"{problem['loc'][-1]} is {str(problem.get('input'))[:40]!r}: {problem['msg']}" for problem in error.errors()
    ]
    return "; ".join(problems) + "."

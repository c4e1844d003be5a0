"""The requests that the service answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query, Request, Response
from pydantic import BaseModel

from chmcnn.serving._answers import Answers, Options, find_answers
from chmcnn.serving._batches import concatenate
from chmcnn.serving._classes import ClassFacts, ClassPage  # noqa: TC001 -- FastAPI reads the annotations
from chmcnn.serving._description import BODY, BODY_PROBLEMS, list_problems
from chmcnn.serving._service import Service, compute_apart
from chmcnn.serving._watch import OPEN

if TYPE_CHECKING:
    from fastapi import FastAPI

_LONGEST_PAGE = 1000
_Name = Annotated[str, Query(alias="class", description="Name of the class.")]
_Offset = Annotated[int, Query(ge=0, le=2**31)]
_Limit = Annotated[int, Query(ge=1, le=_LONGEST_PAGE)]


class Reasons(BaseModel):
    """The predicted classes of a row, parents first, each with its score and its delegate."""

    name: str
    reasons: list[dict[str, Any]]


class Explanations(BaseModel):
    """Why classes were predicted, for all rows of a request."""

    rows: list[Reasons]


def add_routes(app: FastAPI, service: Service) -> None:
    """Add all requests to an application."""

    @app.post("/predict", openapi_extra=BODY, responses=BODY_PROBLEMS, summary="Classes of rows, with scores")
    async def predict(request: Request, options: Annotated[Options, Query()]) -> Answers:
        if options.within is not None:
            service.model.hierarchy_.index(options.within)  # an unknown class is refused before any work
        rows = await service.read(request)
        scores = await service.batches.score(rows.features, len(rows.names))
        return await compute_apart(scores.size, find_answers, service.model, options, rows.names, scores)

    @app.post("/explain", openapi_extra=BODY, responses=BODY_PROBLEMS, summary="Why classes are predicted")
    async def explain(request: Request, threshold: Annotated[float | None, Query(ge=0, le=1)] = None) -> Explanations:
        rows = await service.read(request)
        found = await service.batches.run(
            lambda: service.model.explain(concatenate([rows.features]), threshold=threshold), len(rows.names)
        )
        return Explanations(
            rows=[Reasons(name=name, reasons=each.facts()) for name, each in zip(rows.names, found, strict=True)]
        )

    @app.get(
        "/hierarchy", responses=list_problems(422), summary="Classes by words of their names and titles, or the roots"
    )
    async def hierarchy(search: str = "", offset: _Offset = 0, limit: _Limit = 50) -> ClassPage:
        return service.classes.page(service.classes.search(search), offset, limit)

    @app.get("/hierarchy/children", responses=list_problems(404, 422), summary="Classes right below a class")
    async def children(name: _Name, offset: _Offset = 0, limit: _Limit = 50) -> ClassPage:
        return service.classes.page(service.model.hierarchy_.children(name), offset, limit)

    @app.get("/hierarchy/ancestors", responses=list_problems(404, 422), summary="A class and all above it, roots first")
    async def ancestors(name: _Name) -> list[ClassFacts]:
        return service.classes.describe(service.classes.ancestors(name))

    @app.get("/model", responses=list_problems(), summary="What the model is, and which columns it takes")
    async def describe() -> dict[str, Any]:
        return service.describe()

    @app.get(OPEN, summary="Whether the service answers")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/metrics", responses=list_problems(), summary="Counts and times, in the format of Prometheus")
    async def metrics() -> Response:
        return Response(service.measured.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

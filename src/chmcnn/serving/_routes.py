"""The requests that the service answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.routing import APIRoute

from chmcnn.serving._answers import Answers, Options, Question, read_options
from chmcnn.serving._classes import ClassFacts, ClassPage  # noqa: TC001 -- FastAPI reads the annotations
from chmcnn.serving._description import BODY_PROBLEMS, describe_body, list_parameters, list_problems
from chmcnn.serving._reasons import Explanations, explain_rows

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    from chmcnn.serving._service import Service

_LONGEST_PAGE = 1000
_Name = Annotated[str, Query(alias="class", description="Name of the class.")]
_Offset = Annotated[int, Query(ge=0, le=2**31)]
_Limit = Annotated[int, Query(ge=1, le=_LONGEST_PAGE)]
_Words = Annotated[str, Query(max_length=200)]
_Threshold = Annotated[float | None, Query(ge=0, le=1)]
_Top = Annotated[int | None, Query(ge=1, description="Only so many classes of a row, those with the highest scores.")]


class _DirectRoute(APIRoute):
    """A route that FastAPI describes, but for which it neither reads the request nor writes the answer.

    That takes longer than the answer itself, if the model is small.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 -- those of FastAPI
        super().__init__(*arguments, **options)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            response: Response = await self.endpoint(Request(scope, receive))
            await response(scope, receive, send)

        self.app = answer


def add_routes(app: FastAPI, service: Service) -> None:
    """Add all requests to an application."""
    body = describe_body(service.reader.columns, service.model.n_features_in_, service.limits.rows)

    async def predict(request: Request) -> Response:
        options = read_options(request.scope["query_string"])
        if options.within is not None:
            service.model.hierarchy_.index(options.within)
        options.create_answering(service.model)  # an unknown class, or a risk that cannot be kept, needs no work
        answer = await service.batches.ask(Question(await service.read(request), options))
        return Response(answer, media_type="application/json")

    app.router.add_api_route(
        "/predict",
        predict,
        methods=["POST"],
        openapi_extra=body | {"parameters": list_parameters(Options)},
        responses={**BODY_PROBLEMS, 200: {"model": Answers}},
        summary="Classes of rows, with scores",
        route_class_override=_DirectRoute,
    )

    @app.post(
        "/explain",
        openapi_extra=body,
        responses={**BODY_PROBLEMS, 200: {"model": Explanations}},
        summary="Why classes are predicted",
    )
    async def explain(request: Request, threshold: _Threshold = None, top: _Top = None) -> Response:
        rows = await service.read(request)
        answer = await service.batches.run(
            lambda: explain_rows(service.model, rows, threshold, top, service.limits), len(rows.names)
        )
        return Response(answer, media_type="application/json")

    @app.get(
        "/hierarchy", responses=list_problems(422), summary="Classes by words of their names and titles, or the roots"
    )
    async def hierarchy(search: _Words = "", offset: _Offset = 0, limit: _Limit = 50) -> ClassPage:
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

    @app.get("/healthz", responses=list_problems(without=(401,)), summary="Whether the service answers")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get(
        "/metrics",
        response_class=PlainTextResponse,
        responses=list_problems(),
        summary="Counts and times, in the format of Prometheus",
    )
    async def metrics() -> Response:
        return Response(service.measured.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

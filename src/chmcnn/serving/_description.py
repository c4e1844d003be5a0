"""What the OpenAPI document says about bodies and errors of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastapi import FastAPI

    from chmcnn.serving._columns import InputColumn

_KINDS: dict[str, dict[str, Any]] = {
    "numbers": {"type": ["number", "null"], "example": 0.5},
    "categories": {"type": ["string", "integer", "null"], "example": "north"},
    "dates": {"type": ["string", "null"], "format": "date", "example": "2026-12-31"},
    "text": {"type": ["string", "null"], "example": "a red shoe of leather"},
}


def describe_body(columns: list[InputColumn], features: int, most: int) -> dict[str, Any]:
    """Return what a request with rows of this model has, as JSON and as CSV."""
    rows = {
        "type": "array",
        "minItems": 1,
        "maxItems": most,
        "items": _describe_objects(columns) if columns else _describe_unnamed(features),
    }
    table = {"type": "string", "description": "A header and rows, with the columns of the model."}
    schema = {"type": "object", "required": ["rows"], "properties": {"rows": rows}}
    head = [column.name for column in columns] or [str(place) for place in range(min(features, 3))]
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": schema},
                "text/csv": {"schema": table, "example": f"{','.join(head)}\n{',' * (len(head) - 1)}\n"},
            },
        }
    }


def _describe_objects(columns: list[InputColumn]) -> dict[str, Any]:
    """Return rows of named columns; other keys are ignored, and known categories are only examples."""
    described = {column.name: dict(_KINDS[column.kind]) for column in columns}
    for column in columns:
        if column.categories:
            described[column.name]["example"] = column.categories[0]
    return {
        "type": "object",
        "required": list(described),
        "properties": described,
        "description": "The columns of the model, and null for a missing value.",
    }


def _describe_unnamed(features: int) -> dict[str, Any]:
    numbers = {"type": "array", "minItems": features, "maxItems": features, "items": _KINDS["numbers"]}
    at = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": features - 1}}
    of = {"type": "array", "items": {"type": "number"}}
    return {
        "anyOf": [
            numbers | {"description": "Numbers, in the order of the training."},
            {"type": "string", "description": "A text, if the model was trained on texts."},
            {
                "type": "object",
                "required": ["indices", "values"],
                "properties": {"indices": at, "values": of},
                "description": "A sparse row: positions from 0, and the numbers there.",
            },
        ]
    }


class Problem(BaseModel):
    """Why a request is refused."""

    detail: str


def list_problems(*statuses: int, without: tuple[int, ...] = ()) -> dict[int | str, dict[str, Any]]:
    """Return the errors of a route, for its description."""
    meanings = {
        401: "The token is missing or wrong.",
        404: "There is no such class.",
        408: "The body is too slow.",
        413: "Too many rows or bytes.",
        415: "Neither JSON nor CSV.",
        421: "The header Host has a name that this machine does not have.",
        422: "A value cannot be used; the message names it.",
        503: "Too much to do; try again.",
    }
    return {
        status: {"model": Problem, "description": meanings[status]}
        for status in (401, 421, *statuses)
        if status not in without
    }


BODY_PROBLEMS = list_problems(404, 408, 413, 415, 422, 503)


def list_parameters(options: type[BaseModel]) -> list[dict[str, Any]]:
    """Return the fields of a model as parameters in the address."""
    return [
        {
            "name": name,
            "in": "query",
            "required": False,
            "description": schema.pop("description"),
            "schema": schema,
        }
        for name, schema in options.model_json_schema()["properties"].items()
    ]


def describe_token(app: FastAPI, open_paths: Iterable[str]) -> None:
    """Say in the document that requests need a token."""
    document = app.openapi()  # kept by the application, and answered from then on
    document.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    for path in open_paths:
        for operation in document["paths"].get(path, {}).values():
            operation["security"] = []

"""What the OpenAPI document says about bodies and errors of requests."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

BODY: dict[str, Any] = {
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

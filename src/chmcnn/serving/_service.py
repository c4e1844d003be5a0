"""A model, what is known about it, and the requests that wait for it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from chmcnn._version import __version__
from chmcnn.serving._batches import Batches
from chmcnn.serving._classes import ClassIndex
from chmcnn.serving._limits import Limits, read_body
from chmcnn.serving._measured import Measured
from chmcnn.serving._rows import Rows, list_columns, read_rows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from fastapi import FastAPI, Request

    from chmcnn._typing import JSONValue
    from chmcnn.estimator import HierarchicalClassifier

_SMALL = 1 << 16
"""Bytes of a body, or scores, that take less than a thread is worth."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class Service:
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
        return await compute_apart(len(body), read_rows, self.model, self.columns, body, kind, self.limits.rows)

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


async def compute_apart(
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

"""A model, what is known about it, and the requests that wait for it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from chmcnn._version import __version__
from chmcnn.serving._answers import Answerer
from chmcnn.serving._batches import Batches
from chmcnn.serving._classes import ClassIndex
from chmcnn.serving._limits import Limits, read_body
from chmcnn.serving._measured import Measured
from chmcnn.serving._rows import RowReader, Rows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import FastAPI, Request

    from chmcnn._typing import JSONValue
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.report import explorer

_SMALL = 1 << 16
"""Bytes of a body that is read in less time than a thread is worth."""
_SCORES = 1 << 22
"""Scores of a batch, which is never less than one request."""


class Service:
    """A model, what is known about it, and the requests that wait for it."""

    def __init__(
        self,
        model: HierarchicalClassifier,
        limits: Limits,
        facts: explorer.ClassFacts | None = None,
        title: str | None = None,
    ) -> None:
        self.model, self.limits, self.facts = model, limits, facts
        self.title = title or type(model).__name__
        self.measured, self.classes = Measured(), ClassIndex(model.hierarchy_, facts)
        self.reader, self.answerer = RowReader(model, limits.rows), Answerer(model, limits)
        most = max(limits.rows, _SCORES // max(1, len(model.hierarchy_)))
        self.batches = Batches(self.answerer.answer, limits, most, self.measured.count_batch)

    @asynccontextmanager
    async def lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        yield
        self.batches.close()

    async def read(self, request: Request) -> Rows:
        body = await read_body(request, self.limits)
        kind = request.headers.get("content-type", "")
        if len(body) < _SMALL:
            return self.reader.read(body, kind)
        return await asyncio.to_thread(self.reader.read, body, kind)

    def describe(self) -> dict[str, JSONValue]:
        """Return what is known about the model."""
        model = self.model
        return {
            "title": self.title,
            "system": type(model).__name__,
            "classes": len(model.hierarchy_),
            "features": model.n_features_in_,
            "columns": [column._asdict() for column in self.reader.columns],
            "id_column": model.id_column_,
            "settings": {name: _as_json(value) for name, value in model.get_params(deep=False).items()},
            "rows_of_training": getattr(model, "n_samples_fit_", None),
            "validation_score": getattr(model, "best_score_", None),
            "has_guarantees": model.risks_ is not None,
            "lowest_threshold": float(model.thresholds_.min()),
            "counted": self.facts and self.facts.counted,
            "evaluation": self.facts and self.facts.evaluation,
            "version": __version__,
        }


def _as_json(value: object) -> JSONValue:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_as_json(each) for each in value]
    return type(value).__name__

"""Answers of a service: classes of rows with scores, and why they were predicted."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import parse_qsl

import numpy as np
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from chmcnn.estimator import Ranker
from chmcnn.serving._columns import concatenate
from chmcnn.serving._limits import refuse_long_answer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pydantic.config import JsonDict

    from chmcnn.estimator import Answering, HierarchicalClassifier
    from chmcnn.serving._limits import Limits
    from chmcnn.serving._rows import Rows

_EXAMPLE: JsonDict = {
    "name": "n1",
    "classes": [{"name": "animal", "score": 0.97}, {"name": "dog", "title": "Dog", "score": 0.9}],
}
_DECIDING = {"threshold", "risk", "risk_of", "back_off", "confidence"}
"""Options that decide which classes are predicted, as `predict_labels` has them."""


class ScoredClass(BaseModel):
    """A class and its score."""

    name: str
    title: str | None = None
    score: float = Field(ge=0, le=1)


class RowAnswer(BaseModel):
    """The classes of a row, highest scores first."""

    model_config = ConfigDict(json_schema_extra={"example": _EXAMPLE})
    name: str = Field(description="Id of the row, or its number from 0.")
    classes: list[ScoredClass]


class Answers(BaseModel):
    """The answers to all rows of a request, in their order."""

    rows: list[RowAnswer]


class Options(BaseModel):
    """Which classes a request asks for."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    top: int | None = Field(None, ge=1, description="Number of classes of each row. Default: 10, or all with labels.")
    min_score: float = Field(0.0, ge=0, le=1, description="Lowest score of a class.")
    threshold: float | None = Field(
        None, ge=0, le=1, description="Only classes that are predicted, with this score or a higher one."
    )
    labels: bool = Field(default=False, description="Only classes that are predicted, with the model's own threshold.")
    risk: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Only classes that are predicted so that no more than this share goes wrong, as a mean over rows.",
    )
    risk_of: Literal["missed", "wrong"] | None = Field(
        None,
        description="What goes wrong: the share of true classes that are missed (the default), or of predicted ones.",
    )
    back_off: bool = Field(
        default=False, description="With a risk: one path, down to the deepest class that is safe enough."
    )
    confidence: float | None = Field(None, gt=0, lt=1, description="Keep the risk with this probability.")
    within: str | None = Field(None, description="This class and its descendants only.")
    most_specific: bool = Field(default=False, description="Leave out ancestors of classes that are shown.")

    def create_answering(self, model: HierarchicalClassifier) -> Answering | None:
        """Return what decides which classes are predicted, if only those are wanted."""
        given: Any = {name: getattr(self, name) for name in self.model_fields_set & _DECIDING}
        return model.create_answering(**given) if self.labels or given else None


@lru_cache(maxsize=128)
def read_options(query: bytes) -> Options:
    """Return the options in the query of an address; the same object for the same query."""
    try:
        return Options.model_validate(dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)))
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from None


class Question(NamedTuple):
    """Rows of a request, and which classes it asks for."""

    rows: Rows
    options: Options

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.rows.names)

    @property
    def kind(self) -> object:
        """Features of one kind can be joined."""
        return type(self.rows.features)


class Answerer:
    """Answers several requests by one call of a model."""

    def __init__(self, model: HierarchicalClassifier, limits: Limits) -> None:
        self._model, self._limits = model, limits
        titles = model.hierarchy_.titles
        self._classes = [(name, titles.get(name)) for name in model.hierarchy_.classes]

    def answer(self, questions: list[Question]) -> list[bytes]:
        """Return one JSON text of `Answers` for each question."""
        scores = self._model.predict_proba(concatenate([each.rows.features for each in questions]))
        ends = list(accumulate(each.size for each in questions))
        starts = [0, *ends[:-1]]
        ranked = self._rank_alike(questions, starts, scores)
        return [
            to_json({"rows": [{"name": n, "classes": c} for n, c in zip(q.rows.names, ranked[start:end], strict=True)]})
            for q, start, end in zip(questions, starts, ends, strict=True)
        ]

    def _rank_alike(
        self, questions: list[Question], starts: list[int], scores: NDArray[np.float32]
    ) -> list[list[dict[str, Any]]]:
        """Return the classes of each row of scores; rows with the same options are ranked together."""
        alike: dict[int, list[int]] = {}  # equal options of requests are mostly one object
        for place, question in enumerate(questions):
            alike.setdefault(id(question.options), []).append(place)
        if len(alike) == 1:
            return self.rank(questions[0].options, scores)
        ranked: list[list[dict[str, Any]]] = [[]] * len(scores)
        for places in alike.values():
            rows = [row for at in places for row in range(starts[at], starts[at] + questions[at].size)]
            for row, classes in zip(rows, self.rank(questions[places[0]].options, scores[rows]), strict=True):
                ranked[row] = classes
        return ranked

    def rank(self, options: Options, scores: NDArray[np.float32]) -> list[list[dict[str, Any]]]:
        """Return the best, or the predicted, classes of rows of coherent scores, each as a `ScoredClass`."""
        answering = options.create_answering(self._model)
        if answering is not None:
            scores = np.where(answering.answer(scores), scores, np.float32(-1))  # below any lowest score
        top = options.top or (10 if answering is None else None)
        reached = int(np.count_nonzero(scores >= options.min_score))
        refuse_long_answer(min(reached, len(scores) * (top or reached)), self._limits)
        ranker = Ranker(
            self._model.hierarchy_,
            top,
            min_score=options.min_score,
            within=options.within,
            most_specific=options.most_specific,
        )
        found: list[list[dict[str, Any]]] = [[] for _ in scores]
        for row, column, score in zip(*(part.tolist() for part in ranker.rank(scores)), strict=True):
            name, title = self._classes[column]
            found[row].append({"name": name, "title": title, "score": score})
        return found

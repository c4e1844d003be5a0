"""Answers of a service: classes of rows with scores, and why they were predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from chmcnn.estimator import Ranker

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pydantic.config import JsonDict

    from chmcnn.estimator import HierarchicalClassifier

_EXAMPLE: JsonDict = {
    "name": "n1",
    "classes": [{"name": "animal", "score": 0.97}, {"name": "dog", "title": "Dog", "score": 0.9}],
}


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

    model_config = ConfigDict(extra="forbid")
    top: int | None = Field(None, ge=1, description="Number of classes of each row. Default: 10, or all with labels.")
    min_score: float = Field(0.0, ge=0, le=1, description="Lowest score of a class.")
    threshold: float | None = Field(
        None, ge=0, le=1, description="Only classes that are predicted, with this score or a higher one."
    )
    labels: bool = Field(default=False, description="Only classes that are predicted, with the model's own threshold.")
    within: str | None = Field(None, description="This class and its descendants only.")
    most_specific: bool = Field(default=False, description="Leave out ancestors of classes that are shown.")

    @property
    def asks_for_labels(self) -> bool:
        """Whether only predicted classes are wanted."""
        return self.labels or self.threshold is not None


def find_answers(
    model: HierarchicalClassifier, options: Options, names: list[str], scores: NDArray[np.float32]
) -> Answers:
    """Return the best, or the predicted, classes of rows of coherent scores."""
    hierarchy = model.hierarchy_
    if options.asks_for_labels:
        thresholds = model.thresholds_ if options.threshold is None else options.threshold
        scores = np.where(scores >= thresholds, scores, np.float32(-1))  # below any lowest score
    top = options.top or (None if options.asks_for_labels else 10)
    ranker = Ranker(
        hierarchy, top, min_score=options.min_score, within=options.within, most_specific=options.most_specific
    )
    found: list[list[ScoredClass]] = [[] for _ in names]
    for row, column, score in zip(*(part.tolist() for part in ranker.rank(scores)), strict=True):
        name = hierarchy.classes[column]
        found[row].append(ScoredClass(name=name, title=hierarchy.titles.get(name), score=score))
    return Answers(rows=[RowAnswer(name=name, classes=each) for name, each in zip(names, found, strict=True)])

"""The values of an evaluation: its measures, and the data of its report."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from chmcnn._wording import count

if TYPE_CHECKING:
    from chmcnn import metrics
    from chmcnn.estimator import Trust
    from chmcnn.evaluation._examples import Example
    from chmcnn.evaluation._profiles import ClassProfiles
    from chmcnn.metrics import Curve

LEAST_ROWS = 10
"""Rows that have an interval: with fewer, samples of them say little about other rows."""


@dataclass(frozen=True, slots=True)
class LevelMetrics:
    """The main measures of the classes of one level."""

    classes: int
    auprc: float
    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class ClassMetrics:
    """The main measures of one class."""

    rows: int
    auprc: float
    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Measures of a model on one table, and the data of its report."""

    title: str
    rows: int
    classes: int
    auprc: metrics.Interval  # with NaN bounds for a table too large or too small for the bootstrap
    figures: dict[str, float]
    curve: Curve
    levels: dict[int, LevelMetrics]
    by_class: dict[str, ClassMetrics]  # classes with a positive row, best AU(PRC) first
    delegations: list[tuple[str, str, int]]  # class, its delegate, number of predictions
    titles: dict[str, str] = field(default_factory=dict)  # of the classes above that have one
    examples: list[Example] = field(default_factory=list)  # some rows, the best predicted one first
    trust: Trust | None = None  # calibration and risks
    profiles: ClassProfiles | None = None  # how each class is predicted

    def facts(self) -> dict[str, Any]:
        """Return everything but curves, examples and profiles of classes as plain values for JSON."""
        facts = asdict(replace(self, trust=None, profiles=None))
        del facts["curve"], facts["examples"], facts["profiles"]
        facts["trust"] = None if self.trust is None else self.trust.facts()
        missing = {"interval": self.describe_interval()} if math.isnan(self.auprc.low) else {}
        return facts | {"auprc": self.auprc._asdict() | missing}

    def describe_interval(self) -> str:
        """Return the interval of the AU(PRC) in words, also if it was not computed."""
        _, low, high = self.auprc
        if math.isnan(low):
            cells = self.rows * self.classes
            return f"not computed: {count(self.rows, 'row') if self.rows < LEAST_ROWS else count(cells, 'cell')}"
        return f"{low:.3f} to {high:.3f}"

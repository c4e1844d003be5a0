"""What a trained model does on rows with known labels: one value with everything that is reported."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from chmcnn import metrics

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import Features
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.metrics import Curve

_POINTS = 400
"""Points of a curve that are kept: more would not be seen."""
_CELLS = 200_000_000
"""Cells that the bootstrap may go through: some ten seconds."""


@dataclass(frozen=True, slots=True)
class OfLevel:
    """The main measures of the classes of one level."""

    classes: int
    auprc: float
    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class OfClass:
    """The main measures of one class."""

    rows: int
    auprc: float
    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The measures of a model on one table, and what its report draws."""

    title: str
    rows: int
    classes: int
    auprc: metrics.Interval
    figures: dict[str, float]
    curve: Curve
    levels: dict[int, OfLevel]
    by_class: dict[str, OfClass]  # of classes with a row, the best AU(PRC) first
    delegations: list[tuple[str, str, int]]  # class, its delegate, and the number of predictions

    def facts(self) -> dict[str, Any]:
        """What a machine reads: all but the curve."""
        found = asdict(self)
        found.pop("curve")
        return found | {"auprc": self.auprc._asdict()}


def evaluate(
    model: HierarchicalClassifier,
    X: Features,
    Y: NDArray[np.bool_],
    title: str,
    *,
    information: ArrayLike | None = None,
    repeats: int | None = None,
    progress: bool = False,
) -> Evaluation:
    """Measure a model on features and the matrix of their labels; big tables are drawn from fewer times.

    Smin needs the information content of classes among training rows, which a model does not keep: it is among the
    figures only where ``information`` is given. ``progress`` shows a bar of the bootstrap on standard error.
    """
    raw = torch.from_numpy(model.uncorrected_proba(X))
    scores = model.correct(raw).numpy()
    drawn = repeats or int(np.clip(_CELLS // scores.size, 20, 200))
    predicted = scores >= model.thresholds_
    counted = model.evaluated_
    measure = partial(metrics.auprc, classes=counted)
    found = metrics.hierarchical(Y, predicted, classes=counted)
    figures = {
        "AU(PRC), macro": metrics.auprc(Y, scores, classes=counted, average="macro"),
        "AU(PRC), weighted": metrics.auprc(Y, scores, classes=counted, average="weighted"),
        "Fmax": metrics.fmax(Y, scores, classes=counted).value,
        **({} if information is None else {"Smin": metrics.smin(Y, scores, information, classes=counted).value}),
        "hierarchical precision": found.precision,
        "hierarchical recall": found.recall,
        "hierarchical F": found.f,
        "exact match": metrics.exact_match(Y, predicted, classes=counted),
        "Hamming loss": metrics.hamming(Y, predicted, classes=counted),
        "Jaccard": metrics.jaccard(Y, predicted, classes=counted),
        "calibration error": metrics.calibration_error(Y, scores, classes=counted),
        "violations": float(metrics.violations(scores, model.hierarchy_).number),
    }
    return Evaluation(
        title=title,
        rows=len(Y),
        classes=int(counted.sum()),
        auprc=metrics.bootstrap(measure, Y, scores, repeats=drawn, progress=progress),
        figures=figures,
        curve=_thinned(metrics.precision_recall_curve(Y, scores, classes=counted)),
        levels=_by_level(model, Y, scores, predicted),
        by_class=_by_class(model, Y, scores, predicted),
        delegations=_delegations(model, raw, predicted),
    )


def _by_level(
    model: HierarchicalClassifier,
    Y: NDArray[np.bool_],
    scores: NDArray[Any],
    predicted: NDArray[np.bool_],
) -> dict[int, OfLevel]:
    hierarchy, counted = model.hierarchy_, model.evaluated_
    areas = metrics.by_level(metrics.auprc, Y, scores, hierarchy, classes=counted)
    found = metrics.by_level(metrics.hierarchical, Y, predicted, hierarchy, classes=counted)
    sizes = Counter(hierarchy.depths[counted].tolist())
    return {level: OfLevel(sizes[level], areas[level], *found[level]) for level in areas}


def _by_class(
    model: HierarchicalClassifier,
    Y: NDArray[np.bool_],
    scores: NDArray[Any],
    predicted: NDArray[np.bool_],
) -> dict[str, OfClass]:
    hierarchy, counted = model.hierarchy_, model.evaluated_ & Y.any(axis=0)
    areas = metrics.by_class(metrics.auprc, Y, scores, hierarchy, classes=counted)
    found = metrics.by_class(metrics.hierarchical, Y, predicted, hierarchy, classes=counted)
    rows = dict(zip(hierarchy.classes, Y.sum(axis=0).tolist(), strict=True))
    best_first = sorted(areas, key=lambda name: -areas[name])
    return {name: OfClass(rows[name], areas[name], *found[name]) for name in best_first}


def _delegations(
    model: HierarchicalClassifier, raw: torch.Tensor, predicted: NDArray[np.bool_]
) -> list[tuple[str, str, int]]:
    delegates = model.delegates(raw).numpy()
    rows, columns = np.nonzero(predicted & (delegates != np.arange(len(model.hierarchy_))))
    counts = Counter(zip(columns.tolist(), delegates[rows, columns].tolist(), strict=True))
    names = model.hierarchy_.classes
    return [(names[above], names[below], count) for (above, below), count in counts.most_common(10)]


def _thinned(curve: Curve) -> Curve:
    kept = np.unique(np.linspace(0, len(curve.recall) - 1, _POINTS).astype(int)) if len(curve.recall) else np.arange(0)
    return metrics.Curve(curve.precision[kept], curve.recall[kept], curve.thresholds[kept])

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
    from numpy.typing import NDArray

    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.metrics import Curve

_POINTS = 400
"""Points of a curve that are kept: more would not be seen."""
_CELLS = 200_000_000
"""Cells that the bootstrap may go through: some ten seconds."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The measures of a model on one table, and what its report draws."""

    title: str
    rows: int
    classes: int
    auprc: metrics.Interval
    figures: dict[str, float]
    curve: Curve
    levels: dict[int, float]
    by_class: dict[str, tuple[float, int]]  # AU(PRC) and rows, of classes with a row, best first
    delegations: list[tuple[str, str, int]]  # class, the class that decided it, and how often among predictions

    def facts(self) -> dict[str, Any]:
        """What a machine reads: all but the curve."""
        found = asdict(self)
        found.pop("curve")
        return found | {"auprc": self.auprc._asdict()}


def evaluate(
    model: HierarchicalClassifier,
    X: Any,  # noqa: ANN401, N803
    Y: NDArray[np.bool_],  # noqa: N803
    title: str,
    *,
    repeats: int | None = None,
) -> Evaluation:
    """Measure a model on features and the matrix of their labels; big tables are drawn from fewer times."""
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
        "hierarchical precision": found.precision,
        "hierarchical recall": found.recall,
        "hierarchical F": found.f,
        "exact match": metrics.exact_match(Y, predicted, classes=counted),
        "Hamming loss": metrics.hamming(Y, predicted, classes=counted),
        "Jaccard": metrics.jaccard(Y, predicted, classes=counted),
        "calibration error": metrics.calibration_error(Y, scores, classes=counted),
        "violations": float(len(model.hierarchy_.violations(scores))),
    }
    return Evaluation(
        title=title,
        rows=len(Y),
        classes=int(counted.sum()),
        auprc=metrics.bootstrap(measure, Y, scores, repeats=drawn),
        figures=figures,
        curve=_thinned(metrics.precision_recall_curve(Y, scores, classes=counted)),
        levels=metrics.by_level(metrics.auprc, Y, scores, model.hierarchy_, classes=counted),
        by_class=_by_class(model, Y, scores),
        delegations=_delegations(model, raw, predicted),
    )


def _by_class(
    model: HierarchicalClassifier,
    Y: NDArray[np.bool_],  # noqa: N803
    scores: NDArray[Any],
) -> dict[str, tuple[float, int]]:
    positions = np.flatnonzero(model.evaluated_ & Y.any(axis=0))
    if not len(positions):
        return {}
    each = metrics.auprc(Y, scores, classes=positions, average=None)
    order = np.argsort(-each, kind="stable")
    names = model.hierarchy_.classes
    return {names[positions[at]]: (float(each[at]), int(Y[:, positions[at]].sum())) for at in order}


def _delegations(
    model: HierarchicalClassifier, raw: torch.Tensor, predicted: NDArray[np.bool_]
) -> list[tuple[str, str, int]]:
    deciders = model.deciders(raw).numpy()
    rows, columns = np.nonzero(predicted & (deciders != np.arange(len(model.hierarchy_))))
    counts = Counter(zip(columns.tolist(), deciders[rows, columns].tolist(), strict=True))
    names = model.hierarchy_.classes
    return [(names[above], names[below], count) for (above, below), count in counts.most_common(10)]


def _thinned(curve: Curve) -> Curve:
    kept = np.unique(np.linspace(0, len(curve.recall) - 1, _POINTS).astype(int)) if len(curve.recall) else np.arange(0)
    return metrics.Curve(curve.precision[kept], curve.recall[kept], curve.thresholds[kept])

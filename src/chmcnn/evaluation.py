"""Evaluation of a trained model on labelled rows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from chmcnn import metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import Features, LabelsLike
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.metrics import Curve, Measure

_POINTS = 400
"""Points of a curve that are drawn: more would not be visible."""
_CELLS = 200_000_000
"""Cells that the bootstrap may process: about ten seconds."""

_SHOWN = tuple(name for name in metrics.MEASURES if name != "auprc")
"""Measures that every evaluation has, beside the AU(PRC) with its interval."""


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
    auprc: metrics.Interval
    figures: dict[str, float]
    curve: Curve
    levels: dict[int, LevelMetrics]
    by_class: dict[str, ClassMetrics]  # classes with a positive row, best AU(PRC) first
    delegations: list[tuple[str, str, int]]  # class, its delegate, number of predictions

    def facts(self) -> dict[str, Any]:
        """Return everything but the curve as plain values for JSON."""
        facts = asdict(self)
        facts.pop("curve")
        return facts | {"auprc": self.auprc._asdict()}


def evaluate(  # noqa: PLR0913 -- each is a part of the question
    model: HierarchicalClassifier,
    X: Features,
    Y: NDArray[np.bool_],
    title: str,
    *,
    information: ArrayLike | None = None,
    known: LabelsLike | None = None,
    measures: Sequence[Measure] = (),
    repeats: int | None = None,
    progress: bool = False,
) -> Evaluation:
    """Measure a model on features and their label matrix.

    Parameters
    ----------
    model, X, Y
        A fitted model, features, and true labels (rows, classes).
    title
        Title of the evaluation.
    information
        Information content of the classes, from training rows or a file. Smin and the weighted Fmax are computed only
        with it.
    known
        Labels that were known before (rows, classes), which Fmax and Smin leave out.
    measures
        Further measures to report: see `chmcnn.metrics.find_measures`.
    repeats
        Bootstrap resamples; by default 20 to 200, fewer for large tables.
    progress
        Show a progress bar of the bootstrap on standard error.
    """
    raw = torch.from_numpy(model.uncorrected_proba(X))
    scores = model.correct(raw).numpy()
    resamples = repeats or int(np.clip(_CELLS // scores.size, 20, 200))
    predicted = scores >= model.thresholds_
    evaluated = model.evaluated_
    measure = partial(metrics.auprc, classes=evaluated)
    outcome = metrics.Outcome(Y, scores, predicted, model.hierarchy_, evaluated, information, known)
    return Evaluation(
        title=title,
        rows=len(Y),
        classes=int(evaluated.sum()),
        auprc=metrics.bootstrap(measure, Y, scores, repeats=resamples, progress=progress),
        figures=_compute_figures(outcome, measures),
        curve=_thin(metrics.precision_recall_curve(Y, scores, classes=evaluated)),
        levels=_by_level(model, Y, scores, predicted),
        by_class=_by_class(model, Y, scores, predicted),
        delegations=_delegations(model, raw, predicted),
    )


def _compute_figures(outcome: metrics.Outcome, measures: Sequence[Measure]) -> dict[str, float]:
    """Return the usual measures that are defined on these rows, those that were asked for, and the violations."""
    names = [name for name in _SHOWN if outcome.information is not None or not metrics.MEASURES[name].needs_information]
    figures = {metrics.MEASURES[name].title: metrics.MEASURES[name].compute(outcome) for name in names}
    figures = {title: value for title, value in figures.items() if not math.isnan(value)}
    figures |= {measure.title: measure.compute(outcome) for measure in measures}
    return figures | {"violations": float(metrics.violations(outcome.scores, outcome.hierarchy).number)}


def _by_level(
    model: HierarchicalClassifier,
    Y: NDArray[np.bool_],
    scores: NDArray[Any],
    predicted: NDArray[np.bool_],
) -> dict[int, LevelMetrics]:
    hierarchy, evaluated = model.hierarchy_, model.evaluated_
    areas = metrics.by_level(metrics.auprc, Y, scores, hierarchy, classes=evaluated)
    hierarchical = metrics.by_level(metrics.hierarchical, Y, predicted, hierarchy, classes=evaluated)
    sizes = Counter(hierarchy.depths[evaluated].tolist())
    return {level: LevelMetrics(sizes[level], areas[level], *hierarchical[level]) for level in areas}


def _by_class(
    model: HierarchicalClassifier,
    Y: NDArray[np.bool_],
    scores: NDArray[Any],
    predicted: NDArray[np.bool_],
) -> dict[str, ClassMetrics]:
    hierarchy, evaluated = model.hierarchy_, model.evaluated_ & Y.any(axis=0)
    areas = metrics.by_class(metrics.auprc, Y, scores, hierarchy, classes=evaluated)
    hierarchical = metrics.by_class(metrics.hierarchical, Y, predicted, hierarchy, classes=evaluated)
    rows = dict(zip(hierarchy.classes, Y.sum(axis=0).tolist(), strict=True))
    best_first = sorted(areas, key=lambda name: -areas[name])
    return {name: ClassMetrics(rows[name], areas[name], *hierarchical[name]) for name in best_first}


def _delegations(
    model: HierarchicalClassifier, raw: torch.Tensor, predicted: NDArray[np.bool_]
) -> list[tuple[str, str, int]]:
    delegates = model.delegates(raw).numpy()
    rows, columns = np.nonzero(predicted & (delegates != np.arange(len(model.hierarchy_))))
    counts = Counter(zip(columns.tolist(), delegates[rows, columns].tolist(), strict=True))
    names = model.hierarchy_.classes
    return [(names[column], names[delegate], count) for (column, delegate), count in counts.most_common(10)]


def _thin(curve: Curve) -> Curve:
    points = (
        np.unique(np.linspace(0, len(curve.recall) - 1, _POINTS).astype(int)) if len(curve.recall) else np.arange(0)
    )
    return metrics.Curve(curve.precision[points], curve.recall[points], curve.thresholds[points])

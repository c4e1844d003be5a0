"""Evaluation of a trained model on labelled rows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
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


_EXAMPLES = (0.0, 0.5, 0.8, 0.9, 0.95, 1.0)
"""Rows that a report shows: their places from the best to the worst predicted one."""


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


class Answer(NamedTuple):
    """What a model says of one class of one row: predicted and true, predicted only, or true only."""

    name: str
    score: float
    verdict: Literal["right", "wrong", "missed"]


@dataclass(frozen=True, slots=True)
class Example:
    """One row with its most specific classes that are true or predicted, highest score first."""

    row: str  # its name, or its number from 0
    f: float  # F1 of the row
    answers: list[Answer]
    others: dict[str, int]  # ancestors of these classes: their number by verdict


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
    titles: dict[str, str] = field(default_factory=dict)  # of the classes above that have one
    examples: list[Example] = field(default_factory=list)  # some rows, the best predicted one first

    def facts(self) -> dict[str, Any]:
        """Return everything but the curve and the examples as plain values for JSON."""
        facts = asdict(self)
        del facts["curve"], facts["examples"]
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
    by_class, delegations = _by_class(model, Y, scores, predicted), _delegations(model, raw, predicted)
    return Evaluation(
        title=title,
        rows=len(Y),
        classes=int(evaluated.sum()),
        auprc=metrics.bootstrap(measure, Y, scores, repeats=resamples, progress=progress),
        figures=_compute_figures(outcome, measures),
        curve=_thin(metrics.precision_recall_curve(Y, scores, classes=evaluated)),
        levels=_by_level(model, Y, scores, predicted),
        by_class=by_class,
        delegations=delegations,
        examples=_choose_examples(model, X, Y, scores),
        titles=_select_titles(model, {*by_class, *(name for pair in delegations for name in pair[:2])}),
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
    chosen = np.flatnonzero(model.evaluated_ & Y.any(axis=0))
    truth, said = Y[:, chosen], predicted[:, chosen]
    areas = metrics.auprc(truth, np.asfortranarray(scores[:, chosen]), average=None)
    shared, rows, guesses = (matrix.sum(axis=0) for matrix in (truth & said, truth, said))
    precision, recall, f = shared / np.maximum(guesses, 1), shared / rows, 2 * shared / (rows + guesses)
    columns = (rows.tolist(), areas.tolist(), precision.tolist(), recall.tolist(), f.tolist())
    figures = {
        model.hierarchy_.classes[at]: ClassMetrics(*row) for at, *row in zip(chosen.tolist(), *columns, strict=True)
    }
    return dict(sorted(figures.items(), key=lambda item: -item[1].auprc))


def _delegations(
    model: HierarchicalClassifier, raw: torch.Tensor, predicted: NDArray[np.bool_]
) -> list[tuple[str, str, int]]:
    delegates = model.delegates(raw).numpy()
    rows, columns = np.nonzero(predicted & model.evaluated_ & (delegates != np.arange(len(model.hierarchy_))))
    counts = Counter(zip(columns.tolist(), delegates[rows, columns].tolist(), strict=True))
    names = model.hierarchy_.classes
    return [(names[column], names[delegate], count) for (column, delegate), count in counts.most_common(10)]


def _select_titles(model: HierarchicalClassifier, names: set[str]) -> dict[str, str]:
    """Return the titles of some classes, in column order."""
    return {name: title for name, title in model.hierarchy_.titles.items() if name in names}


def _choose_examples(
    model: HierarchicalClassifier, X: Features, Y: NDArray[np.bool_], scores: NDArray[Any]
) -> list[Example]:
    """Choose rows from the best to the worst predicted one, most of them from the worst fifth."""
    evaluated = np.flatnonzero(model.evaluated_)
    truth, predicted = Y[:, evaluated], scores[:, evaluated] >= model.thresholds_[evaluated]
    sizes = truth.sum(axis=1) + predicted.sum(axis=1)
    f = 2 * (truth & predicted).sum(axis=1) / np.maximum(sizes, 1)
    f[sizes == 0] = -1  # a row without any class has no F1: it is not an example
    best_first = np.argsort(-f, kind="stable")[: int((sizes > 0).sum())]
    places = np.unique(np.multiply(_EXAMPLES, len(best_first) - 1).round().astype(int))
    chosen = best_first[places].tolist() if len(best_first) else []
    names = _name_rows(X, len(Y))
    return [_create_example(model, names[row], float(f[row]), Y[row], scores[row]) for row in chosen]


def _create_example(
    model: HierarchicalClassifier, name: str, f: float, truth: NDArray[np.bool_], scores: NDArray[Any]
) -> Example:
    hierarchy, predicted = model.hierarchy_, scores >= model.thresholds_
    either = (truth | predicted) & model.evaluated_
    parents, children = hierarchy.edges.T
    has_child = np.zeros_like(either)
    has_child[parents[either[children]]] = True
    answers = [
        Answer(
            hierarchy.classes[at],
            float(scores[at]),
            "missed" if not predicted[at] else "right" if truth[at] else "wrong",
        )
        for at in np.flatnonzero(either).tolist()
    ]
    inner = {hierarchy.classes[at] for at in np.flatnonzero(either & has_child).tolist()}
    shown = sorted((each for each in answers if each.name not in inner), key=lambda each: -each.score)
    return Example(name, f, shown, Counter(each.verdict for each in answers if each.name in inner))


def _name_rows(X: Features, rows: int) -> list[str]:
    """Return the names of the rows, or their numbers in the table that they come from, counted from 0."""
    labels = X.index.tolist() if isinstance(X, pd.DataFrame | pd.Series) else range(rows)
    return [str(label) if isinstance(label, str) else f"row {label}" for label in labels]


def _thin(curve: Curve) -> Curve:
    points = (
        np.unique(np.linspace(0, len(curve.recall) - 1, _POINTS).astype(int)) if len(curve.recall) else np.arange(0)
    )
    return metrics.Curve(curve.precision[points], curve.recall[points], curve.thresholds[points])

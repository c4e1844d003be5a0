"""A model on labelled rows: its measures, and the data of its report."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy import sparse
from sklearn.utils import _safe_indexing

from chmcnn import metrics
from chmcnn._io.spool import Spool
from chmcnn.errors import ScoreError
from chmcnn.estimator import Trust, check_trust
from chmcnn.evaluation._profiles import (
    ClassProfiles,
    PairCounts,
    keep_most_frequent,
    pair_confusions,
    read_curves,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import Features, LabelsLike
    from chmcnn.estimator import Explanation, HierarchicalClassifier
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.metrics import Curve, Measure

_POINTS = 400
"""Points of a curve that are drawn: more would not be visible."""
_CELLS = 200_000_000
"""Cells that the bootstrap may process: about ten seconds."""

_SHOWN = tuple(name for name in metrics.MEASURES if name != "auprc")
"""Measures that every evaluation has, beside the AU(PRC) with its interval."""


_EXAMPLES = (0.0, 0.5, 0.8, 0.9, 0.95, 1.0)
"""Rows that a report shows: their places from the best to the worst predicted one."""
_LOWEST = 0.01
_SCORED = 300
"""Classes of such a row that are kept: the lowest score, and their number."""


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


class ScoredClass(NamedTuple):
    """A class of one row: its score, the class that decides it, and whether it is true."""

    name: str
    score: float
    delegate: str
    is_true: bool


@dataclass(frozen=True, slots=True)
class Example:
    """One row with its most specific classes that are true or predicted, highest score first."""

    row: str  # its name, or its number from 0
    f: float  # F1 of the row
    answers: list[Answer]
    others: dict[str, int]  # ancestors of these classes: their number by verdict
    scored: list[ScoredClass] = field(default_factory=list)  # true classes and those with high scores, parents first


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Measures of a model on one table, and the data of its report."""

    title: str
    rows: int
    classes: int
    auprc: metrics.Interval  # with NaN bounds for a table too large for the bootstrap
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
            return f"not computed: {self.rows * self.classes:,} cells"
        return f"{low:.3f} to {high:.3f}"


def evaluate(  # noqa: PLR0913 -- each is a part of the question
    model: HierarchicalClassifier,
    X: Features,
    Y: LabelsLike,
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
        A fitted model, features, and true labels (rows, classes) as a 0/1 matrix, dense or sparse, with all ancestors.
        Scores are computed once, some rows at a time. Those of a large table are in a temporary file meanwhile.
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
        Bootstrap resamples; by default 20 to 200, fewer for large tables. A table of more than
        ``metrics.CELLS_IN_MEMORY`` cells has no interval.
    progress
        Show a progress bar of the bootstrap on standard error.
    """
    truth, evaluated = sparse.csr_array(Y).astype(np.bool_), model.evaluated_
    truth.sum_duplicates()
    truth.eliminate_zeros()
    in_memory = math.prod(truth.shape) <= metrics.CELLS_IN_MEMORY
    with Spool(len(model.hierarchy_), np.float32, in_memory=in_memory) as scores:
        tally = _score(model, X, truth, scores)
        predicted = partial(_predict, scores, model.thresholds_)
        outcome = metrics.Outcome(truth, scores.blocks, predicted, model.hierarchy_, evaluated, information, known)
        points = metrics.points_by_class(truth, scores.blocks, classes=evaluated)
        by_class, delegations = _by_class(outcome, points, tally), tally.list_delegations(model.hierarchy_)
        return Evaluation(
            title=title,
            rows=truth.shape[0],
            classes=int(evaluated.sum()),
            auprc=_measure_interval(outcome, repeats, progress=progress),
            figures=_compute_figures(outcome, measures),
            curve=_thin(metrics.precision_recall_curve(truth, scores.blocks, classes=evaluated)),
            levels=_by_level(outcome),
            by_class=by_class,
            delegations=delegations,
            examples=_choose_examples(model, X, truth, scores, tally.f),
            trust=check_trust(model, truth, scores.blocks),
            profiles=tally.create_profiles(read_curves(points, _count_rows(truth)), _count_rows(truth), evaluated),
            titles=_select_titles(model, {*by_class, *(name for pair in delegations for name in pair[:2])}),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Tally:
    """What is counted while scores are computed: predicted labels at or above the thresholds."""

    shared: NDArray[np.int64]  # (classes,) rows in which a class is true and predicted
    predicted: NDArray[np.int64]  # (classes,) rows in which it is predicted
    f: NDArray[np.float64]  # (rows,) F1 of the classes that count; -1 for a row without any
    delegations: PairCounts  # class and delegate, where they are not the same
    confusions: PairCounts  # missed class, and wrong class of the same row

    def list_delegations(self, hierarchy: Hierarchy) -> list[tuple[str, str, int]]:
        """Return the most frequent delegations."""
        classes, delegates, counts = self.delegations.pairs()
        names, most = hierarchy.classes, np.argsort(-counts, kind="stable")[:10].tolist()
        return [(names[classes[at]], names[delegates[at]], int(counts[at])) for at in most]

    def create_profiles(
        self, curves: NDArray[np.float64], rows: NDArray[np.int64], evaluated: NDArray[np.bool_]
    ) -> ClassProfiles:
        """Return how each class is predicted."""
        classes, delegates, counts = self.delegations.pairs()
        every = np.arange(len(self.predicted))
        own = self.predicted - np.bincount(classes, counts, len(every)).astype(np.int64)
        itself = np.flatnonzero((own > 0) & evaluated)
        return ClassProfiles(
            rows=rows,
            curves=curves,
            delegates=keep_most_frequent(
                np.concatenate((classes, itself)),
                np.concatenate((delegates, itself)),
                np.concatenate((counts, own[itself])),
            ),
            replaced_by=self.confusions.most_frequent(),
            replaces=self.confusions.most_frequent(reverse=True),
        )


def _score(model: HierarchicalClassifier, X: Features, truth: sparse.csr_array, scores: Spool) -> _Tally:
    """Compute the scores of all rows, some at a time, and count what is predicted."""
    shared, guesses = np.zeros((2, len(model.hierarchy_)), dtype=np.int64)
    f, delegations, confusions = np.empty(truth.shape[0]), PairCounts(len(guesses)), PairCounts(len(guesses))
    for raw, block in model.iterate_scores(X):
        rows = slice(len(scores), len(scores) + len(block))
        scores.append(block)
        true, predicted = truth[rows].toarray(), block >= model.thresholds_
        if len(true) < len(block):
            raise ScoreError(f"X has more rows than Y, which has {truth.shape[0]:,}; expected the same.")
        both = true & predicted
        shared += both.sum(axis=0)
        guesses += predicted.sum(axis=0)
        sizes = (true[:, model.evaluated_].sum(axis=1), predicted[:, model.evaluated_].sum(axis=1))
        f[rows] = _compute_f(both[:, model.evaluated_].sum(axis=1), sum(sizes))
        delegations.add(*_find_delegations(model, raw, predicted))
        confusions.add(*pair_confusions(true, predicted, block, model.evaluated_))
    return _Tally(shared, guesses, f, delegations, confusions)


def _compute_f(shared: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the F1 of rows; -1 for a row without any class, which has none."""
    return np.where(sizes == 0, -1.0, 2 * shared / np.maximum(sizes, 1))


def _find_delegations(
    model: HierarchicalClassifier, raw: NDArray[np.float32], predicted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return predicted classes and their delegates, where these are other classes."""
    delegates = model.delegates(torch.from_numpy(raw)).numpy()
    rows, columns = np.nonzero(predicted & model.evaluated_ & (delegates != np.arange(len(model.hierarchy_))))
    return columns, delegates[rows, columns]


def _predict(scores: Spool, thresholds: NDArray[np.float64]) -> Iterator[NDArray[np.bool_]]:
    return (block >= thresholds for block in scores.blocks())


def _measure_interval(outcome: metrics.Outcome, repeats: int | None, *, progress: bool) -> metrics.Interval:
    """Return the AU(PRC) with its bootstrap interval; NaN bounds for a table too large to be drawn from."""
    measure, cells = partial(metrics.auprc, classes=outcome.classes), math.prod(outcome.Y.shape)
    if cells > metrics.CELLS_IN_MEMORY:
        return metrics.Interval(measure(outcome.Y, outcome.scores), math.nan, math.nan)
    resamples = repeats or int(np.clip(_CELLS // cells, 20, 200))
    return metrics.bootstrap(measure, outcome.Y, outcome.scores, repeats=resamples, progress=progress)


def _compute_figures(outcome: metrics.Outcome, measures: Sequence[Measure]) -> dict[str, float]:
    """Return the usual measures that are defined on these rows, those that were asked for, and the violations."""
    names = [name for name in _SHOWN if outcome.information is not None or not metrics.MEASURES[name].needs_information]
    figures = {metrics.MEASURES[name].title: metrics.MEASURES[name].compute(outcome) for name in names}
    figures = {title: value for title, value in figures.items() if not math.isnan(value)}
    figures |= {measure.title: measure.compute(outcome) for measure in measures}
    return figures | {"violations": float(metrics.violations(outcome.scores, outcome.hierarchy).number)}


def _by_level(outcome: metrics.Outcome) -> dict[int, LevelMetrics]:
    hierarchy, evaluated = outcome.hierarchy, outcome.classes
    areas = metrics.by_level(metrics.auprc, outcome.Y, outcome.scores, hierarchy, classes=evaluated)
    hierarchical = metrics.by_level(metrics.hierarchical, outcome.Y, outcome.predicted, hierarchy, classes=evaluated)
    sizes = Counter(hierarchy.depths[evaluated].tolist())
    return {level: LevelMetrics(sizes[level], areas[level], *hierarchical[level]) for level in areas}


def _count_rows(truth: sparse.csr_array) -> NDArray[np.int64]:
    """Return the number of rows of each class."""
    return np.bincount(truth.indices, minlength=truth.shape[1])


def _by_class(outcome: metrics.Outcome, points: dict[int, metrics.Points], tally: _Tally) -> dict[str, ClassMetrics]:
    rows, chosen = _count_rows(outcome.Y), np.array([*points], dtype=np.int64)
    areas = np.array([metrics.average_precision(each) for each in points.values()])
    shared, rows, guesses = (counts[chosen] for counts in (tally.shared, rows, tally.predicted))
    precision, recall, f = shared / np.maximum(guesses, 1), shared / rows, 2 * shared / (rows + guesses)
    columns = (rows.tolist(), areas.tolist(), precision.tolist(), recall.tolist(), f.tolist())
    names = outcome.hierarchy.classes
    figures = {names[at]: ClassMetrics(*row) for at, *row in zip(chosen.tolist(), *columns, strict=True)}
    return dict(sorted(figures.items(), key=lambda item: -item[1].auprc))


def _select_titles(model: HierarchicalClassifier, names: set[str]) -> dict[str, str]:
    """Return the titles of some classes, in column order."""
    return {name: title for name, title in model.hierarchy_.titles.items() if name in names}


def _choose_examples(
    model: HierarchicalClassifier, X: Features, truth: sparse.csr_array, scores: Spool, f: NDArray[np.float64]
) -> list[Example]:
    """Choose rows from the best to the worst predicted one, most of them from the worst fifth."""
    best_first = np.argsort(-f, kind="stable")[: int((f >= 0).sum())]
    places = np.unique(np.multiply(_EXAMPLES, len(best_first) - 1).round().astype(int))
    chosen = best_first[places].tolist() if len(best_first) else []
    names = _name_rows(X, len(f))
    if not chosen:
        return []
    lowest = min(_LOWEST, float(model.thresholds_.min()))
    explanations = model.explain(_safe_indexing(X.tocsr() if hasattr(X, "tocsr") else X, chosen), threshold=lowest)
    examples = []
    for row, explanation in zip(chosen, explanations, strict=True):
        true, values = truth[[row]].toarray()[0], scores.row(row)
        example = _create_example(model, names[row], float(f[row]), true, values)
        examples.append(replace(example, scored=_list_scored(explanation, true, values)))
    return examples


def _list_scored(explanation: Explanation, truth: NDArray[np.bool_], scores: NDArray[Any]) -> list[ScoredClass]:
    """Return the true classes and those with the highest scores, parents first."""
    hierarchy, true = explanation.hierarchy, set(np.flatnonzero(truth).tolist())
    best = sorted(explanation.reasons, key=lambda reason: -reason.score)[:_SCORED]  # parents before equal children
    found = {hierarchy.index(reason.name): reason for reason in best}
    listed = [ScoredClass(reason.name, reason.score, reason.delegate, at in true) for at, reason in found.items()] + [
        ScoredClass(name, float(scores[at]), name, is_true=True)
        for at in sorted(true - found.keys())
        for name in (hierarchy.classes[at],)
    ]
    return sorted(listed, key=lambda each: int(hierarchy.depths[hierarchy.index(each.name)]))


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

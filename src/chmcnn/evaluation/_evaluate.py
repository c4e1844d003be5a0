"""A model on labelled rows: its measures, and the data of its report."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from chmcnn import metrics
from chmcnn._io.spool import Spool
from chmcnn.estimator import check_trust
from chmcnn.evaluation._evaluation import LEAST_ROWS, ClassMetrics, Evaluation, LevelMetrics
from chmcnn.evaluation._examples import choose_examples
from chmcnn.evaluation._profiles import read_curves
from chmcnn.evaluation._tally import score_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import Features, LabelsLike
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.evaluation._tally import Tally
    from chmcnn.metrics import Curve, Measure

_POINTS = 400
"""Points of a curve that are drawn: more would not be visible."""
_CELLS_OF_BOOTSTRAP = 200_000_000
"""Cells that the bootstrap may process: about ten seconds."""

_SHOWN = tuple(name for name in metrics.MEASURES if name != "auprc")
"""Measures that every evaluation has, beside the AU(PRC) with its interval."""


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
        ``metrics.CELLS_IN_MEMORY`` cells, or of fewer than 10 rows, has no interval.
    progress
        Show a progress bar of the bootstrap on standard error.
    """
    truth, evaluated = sparse.csr_array(Y).astype(np.bool_), model.evaluated_
    truth.sum_duplicates()
    truth.eliminate_zeros()
    in_memory = math.prod(truth.shape) <= metrics.CELLS_IN_MEMORY
    with Spool(len(model.hierarchy_), np.float32, in_memory=in_memory) as scores:
        tally = score_rows(model, X, truth, scores)
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
            examples=choose_examples(model, X, truth, scores, tally.f),
            trust=check_trust(model, truth, scores.blocks),
            profiles=tally.create_profiles(read_curves(points, _count_rows(truth)), _count_rows(truth), evaluated),
            titles=_select_titles(model, {*by_class, *(name for pair in delegations for name in pair[:2])}),
        )


def _predict(scores: Spool, thresholds: NDArray[np.float64]) -> Iterator[NDArray[np.bool_]]:
    return (block >= thresholds for block in scores.blocks())


def _measure_interval(outcome: metrics.Outcome, repeats: int | None, *, progress: bool) -> metrics.Interval:
    """Return the AU(PRC) with its bootstrap interval; NaN bounds for a table too large or too small to draw from."""
    measure, cells = partial(metrics.auprc, classes=outcome.classes), math.prod(outcome.Y.shape)
    if cells > metrics.CELLS_IN_MEMORY or outcome.Y.shape[0] < LEAST_ROWS:
        return metrics.Interval(measure(outcome.Y, outcome.scores), math.nan, math.nan)
    resamples = repeats or int(np.clip(_CELLS_OF_BOOTSTRAP // cells, 20, 200))
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


def _by_class(outcome: metrics.Outcome, points: dict[int, metrics.Points], tally: Tally) -> dict[str, ClassMetrics]:
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


def _thin(curve: Curve) -> Curve:
    points = (
        np.unique(np.linspace(0, len(curve.recall) - 1, _POINTS).astype(int)) if len(curve.recall) else np.arange(0)
    )
    return metrics.Curve(curve.precision[points], curve.recall[points], curve.thresholds[points])

"""Fmax and Smin, the measures of the CAFA challenges of protein function prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chmcnn._wording import count
from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import check_predictions, check_scores, iterate_blocks, select_columns, to_dense

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy


class Best(NamedTuple):
    """The best value over all thresholds, and the threshold that gives it."""

    value: float
    threshold: float


def fmax(
    Y: LabelsLike,
    scores: ScoresLike,
    *,
    classes: ArrayLike | None = None,
    steps: int = 100,
    information: ArrayLike | None = None,
    known: LabelsLike | None = None,
) -> Best:
    """Best F over the thresholds 0.01, 0.02, ..., 0.99, from precision and recall averaged over rows.

    At each threshold, precision is the mean over rows with a prediction, and recall the mean over rows with a label.

    Parameters
    ----------
    Y, scores
        True labels, and scores from 0 to 1 (rows, classes).
    classes, steps
        Classes to measure (mask or positions), and number of steps of the thresholds from 0 to 1.
    information
        Weight of each class in precision and recall: CAFA's weighted Fmax. `chmcnn.datasets.read_information` reads
        CAFA's file of information accretion; `information_content` computes it from training labels.
    known
        Labels that were known before (rows, classes), with all ancestors: CAFA's partial knowledge. They count neither
        as true nor as predicted, and a row without any other label does not count at all.

    Examples
    --------
    >>> fmax([[1, 1, 0], [1, 0, 1]], [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6]])
    Best(value=1.0, threshold=0.21)
    >>> fmax([[1, 1, 0], [1, 0, 1]], [[0.9, 0.1, 0.8], [0.7, 0.2, 0.6]], information=[0.0, 1.0, 3.0])
    Best(value=0.6666666666666666, threshold=0.01)
    >>> fmax([[1, 1, 0], [1, 0, 1]], [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6]], known=[[1, 1, 0], [1, 0, 0]])
    Best(value=1.0, threshold=0.21)
    """
    cells = _prepare(Y, scores, classes, information, known)
    thresholds = _thresholds(cells.scores, steps)
    truth, values = cells.truth, cells.scores
    if truth.shape[1] == 1:  # the same result as one long row, which is far faster
        truth, values = truth.T, values.T
    labelled = truth.any(axis=1)
    if not labelled.any():
        return Best(float("nan"), float("nan"))
    weights = np.broadcast_to(cells.weights, (truth.shape[1],))
    precision, recall, with_prediction = (np.zeros(len(thresholds)) for _ in range(3))
    for block in iterate_blocks(truth.shape):
        labels = (truth[block] @ weights)[:, None]
        predicted, correct = _at_or_above(values[block], truth[block], thresholds, weights)
        with_prediction += (predicted > 0).sum(axis=0)
        precision += _divide(correct, predicted).sum(axis=0)
        recall += _divide(correct, np.broadcast_to(labels, correct.shape)).sum(axis=0)
    f = _harmonic_mean(precision / np.maximum(with_prediction, 1), recall / labelled.sum())
    best = int(f.argmax())
    return Best(float(f[best]), float(thresholds[best]))


def smin(
    Y: LabelsLike,
    scores: ScoresLike,
    information: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    steps: int = 100,
    known: LabelsLike | None = None,
) -> Best:
    """Smallest semantic distance over thresholds, from remaining uncertainty and misinformation.

    Parameters
    ----------
    Y, scores
        True labels, and scores from 0 to 1 (rows, classes).
    information
        Information content of each class, as `information_content` computes it from training labels.
    classes, steps
        Classes to measure (mask or positions), and number of steps of the thresholds from 0 to 1.
    known
        Labels that were known before, as in `fmax`.

    Examples
    --------
    >>> smin([[1, 1, 0], [1, 0, 1]], [[0.9, 0.8, 0.3], [0.7, 0.2, 0.6]], information=[0.0, 1.0, 1.0])
    Best(value=0.0, threshold=0.31)
    """
    cells = _prepare(Y, scores, classes, information, known)
    thresholds = _thresholds(cells.scores, steps)
    correct, predicted = np.zeros(len(thresholds)), np.zeros(len(thresholds))
    for block in iterate_blocks(cells.truth.shape):
        every, true = _total_at_or_above(cells.scores[block], cells.truth[block], thresholds, cells.weights)
        predicted, correct = predicted + every, correct + true
    total = float((cells.truth @ cells.weights).sum())
    rows = max(int(cells.truth.any(axis=1).sum()), 1)
    distance = np.hypot((total - correct) / rows, (predicted - correct) / rows)
    best = int(distance.argmin())
    return Best(float(distance[best]), float(thresholds[best]))


def information_content(Y: LabelsLike, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Information content of each class: minus the logarithm (base 2) of its share of the rows with all its parents.

    A class without a row counts as having one, so that its content is finite.

    >>> from chmcnn import Hierarchy
    >>> information_content([[1, 1], [1, 0], [1, 0], [1, 0]], Hierarchy.from_edges([("a", "b")]))
    array([0., 2.])
    """
    truth = hierarchy.close(Y)
    matrix = truth.toarray() if hasattr(truth, "toarray") else truth
    parents: list[list[int]] = [[] for _ in hierarchy.classes]
    for parent, child in hierarchy.edges.tolist():
        parents[child].append(parent)
    positives = matrix.sum(axis=0)
    candidates = np.array([matrix[:, columns].all(axis=1).sum() if columns else len(matrix) for columns in parents])
    content: NDArray[np.float64] = -np.log2(np.maximum(positives, 1) / np.maximum(candidates, 1))
    return np.maximum(content, 0.0)


def _thresholds(scores: NDArray[np.floating], steps: int) -> NDArray[np.float64]:
    if scores.min() < 0 or scores.max() > 1:
        raise ScoreError(f"Scores range from {scores.min():g} to {scores.max():g}; expected probabilities from 0 to 1.")
    if steps < 2:
        raise ScoreError(f"steps is {steps}; expected 2 or more.")
    return np.arange(1, steps) / steps


def _weights(information: ArrayLike, classes: int) -> NDArray[np.float64]:
    weights = np.asarray(information, dtype=np.float64)
    if weights.shape != (classes,):
        raise ScoreError(
            f"information has shape {weights.shape}, but there are {count(classes, 'class')}; expected one "
            "number per class, as returned by information_content."
        )
    if not np.isfinite(weights).all():
        at = int(np.flatnonzero(~np.isfinite(weights))[0])
        raise ScoreError(f"information[{at}] is {weights[at]}; expected a finite number for each class.")
    return weights


class _Cells(NamedTuple):
    """What is measured: labels and scores of the selected classes, and the weights of these classes."""

    truth: NDArray[np.bool_]
    scores: NDArray[np.floating]
    weights: NDArray[np.float64]


def _prepare(
    Y: LabelsLike,
    scores: ScoresLike,
    classes: ArrayLike | None,
    information: ArrayLike | None,
    known: LabelsLike | None,
) -> _Cells:
    Y = to_dense(Y)
    truth, values = check_scores(Y, scores, classes)
    weights = np.ones(Y.shape[1]) if information is None else _weights(information, Y.shape[1])
    chosen = select_columns(classes, Y.shape[1])
    weights = weights if chosen is None else weights[chosen]
    if known is not None:
        _, before = check_predictions(Y, known, classes)
        truth = truth & ~before
        rows = truth.any(axis=1)
        if not rows.any():
            raise ScoreError("Every label is known before: there is nothing to measure.")
        truth, values = truth[rows], np.where(before[rows], 0, values[rows])
    return _Cells(truth, values, weights)


def _at_or_above(
    scores: NDArray[np.floating],
    truth: NDArray[np.bool_],
    thresholds: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum in each row the weights of all cells, and of the true ones, at or above each threshold, in one pass."""
    row, column = np.nonzero(scores >= thresholds[0])
    size = len(thresholds) + 1
    place = row * size + np.searchsorted(thresholds, scores[row, column], side="right")
    true = truth[row, column]

    def accumulate(chosen: NDArray[np.bool_] | slice) -> NDArray[np.float64]:
        sums = np.bincount(place[chosen], weights[column[chosen]], len(scores) * size).reshape(-1, size)
        return sums[:, :0:-1].cumsum(axis=1)[:, ::-1]

    return accumulate(slice(None)), accumulate(true)


def _total_at_or_above(
    scores: NDArray[np.floating],
    truth: NDArray[np.bool_],
    thresholds: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum the weights of all cells, and of the true ones, at or above each threshold."""
    row, column = np.nonzero(scores >= thresholds[0])
    reached = np.searchsorted(thresholds, scores[row, column], side="right")
    true, size = truth[row, column], len(thresholds) + 1
    every = np.bincount(reached, weights[column], size)
    correct = np.bincount(reached[true], weights[column[true]], size)
    return every[:0:-1].cumsum()[::-1], correct[:0:-1].cumsum()[::-1]


def _divide(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide, with 0 where there is nothing to divide by."""
    return np.divide(parts, wholes, out=np.zeros(parts.shape), where=wholes > 0)


def _harmonic_mean(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> NDArray[np.float64]:
    return _divide(2 * precision * recall, precision + recall)

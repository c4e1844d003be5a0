"""Fmax and Smin, the measures of the CAFA challenges of protein function prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chmcnn._wording import count
from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import check_scores, to_dense

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy


class Best(NamedTuple):
    """The best value over all thresholds, and the threshold that gives it."""

    value: float
    threshold: float


def fmax(Y: LabelsLike, scores: ScoresLike, *, classes: ArrayLike | None = None, steps: int = 100) -> Best:
    """Best F over the thresholds 0.01, 0.02, ..., 0.99, from precision and recall averaged over rows.

    At each threshold, precision is the mean over rows with a prediction, and recall the mean over rows with a label.

    >>> fmax([[1, 1, 0], [1, 0, 1]], [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6]])
    Best(value=1.0, threshold=0.21)
    """
    truth, values = check_scores(Y, scores, classes)
    thresholds = _thresholds(values, steps)
    if truth.shape[1] == 1:  # the same result as one long row, which is far faster
        truth, values = truth.T, values.T
    labels = truth.sum(axis=1, keepdims=True)
    if not labels.any():
        return Best(float("nan"), float("nan"))
    predicted, correct = (_at_or_above(values, marks, thresholds) for marks in (np.ones_like(truth), truth))
    with_prediction = (predicted > 0).sum(axis=0)
    precision = (correct / np.maximum(predicted, 1)).sum(axis=0) / np.maximum(with_prediction, 1)
    recall = (correct / np.maximum(labels, 1)).sum(axis=0) / (labels > 0).sum()
    f = 2 * precision * recall / np.maximum(precision + recall, 1e-300)
    best = int(f.argmax())
    return Best(float(f[best]), float(thresholds[best]))


def smin(
    Y: LabelsLike,
    scores: ScoresLike,
    information: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    steps: int = 100,
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

    Examples
    --------
    >>> smin([[1, 1, 0], [1, 0, 1]], [[0.9, 0.8, 0.3], [0.7, 0.2, 0.6]], information=[0.0, 1.0, 1.0])
    Best(value=0.0, threshold=0.31)
    """
    Y = to_dense(Y)
    truth, values = check_scores(Y, scores, classes)
    weights = _weights(information, Y.shape[1])
    weights = weights if classes is None else weights[np.asarray(classes)]
    thresholds = _thresholds(values, steps)
    correct, wrong = (_total_at_or_above(values, marks, thresholds, weights) for marks in (truth, ~truth))
    total = float((truth @ weights).sum())
    rows = max(int(truth.any(axis=1).sum()), 1)
    distance = np.hypot((total - correct) / rows, wrong / rows)
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


def _at_or_above(
    scores: NDArray[np.floating], marks: NDArray[np.bool_], thresholds: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Count in each row the marked cells at or above each threshold, in one pass."""
    row, column = np.nonzero(marks)
    reached = np.searchsorted(thresholds, scores[row, column], side="right")
    size = len(thresholds) + 1
    counts = np.bincount(row * size + reached, minlength=len(scores) * size).reshape(-1, size)
    return counts[:, :0:-1].cumsum(axis=1)[:, ::-1]


def _total_at_or_above(
    scores: NDArray[np.floating],
    marks: NDArray[np.bool_],
    thresholds: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sum the class weights of all marked cells at or above each threshold."""
    row, column = np.nonzero(marks)
    reached = np.searchsorted(thresholds, scores[row, column], side="right")
    totals = np.bincount(reached, weights=weights[column], minlength=len(thresholds) + 1)
    return totals[:0:-1].cumsum()[::-1]

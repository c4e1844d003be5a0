"""Measures over all thresholds: AU(PRC) and the precision-recall curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import require_rereadable
from chmcnn.metrics._pairs import pair_scores
from chmcnn.metrics._points import Points, count_apart, count_divided, count_together

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.metrics._points import Exchange

Average = Literal["micro", "macro", "weighted"]


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision and recall of all rows and classes together, from the highest threshold to the lowest."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    thresholds: NDArray[np.floating]


@overload
def auprc(
    Y: LabelsLike,
    scores: ScoresLike,
    *,
    classes: ArrayLike | None = ...,
    average: Average = ...,
    interpolate: bool = ...,
) -> float: ...
@overload
def auprc(
    Y: LabelsLike,
    scores: ScoresLike,
    *,
    classes: ArrayLike | None = ...,
    average: None,
    interpolate: bool = ...,
) -> NDArray[np.float64]: ...
def auprc(
    Y: LabelsLike,
    scores: ScoresLike,
    *,
    classes: ArrayLike | None = None,
    average: Average | None = "micro",
    interpolate: bool = False,
) -> float | NDArray[np.float64]:
    """Area under the precision-recall curve.

    Parameters
    ----------
    Y
        True labels (rows, classes).
    scores
        Scores (rows, classes), finite; only their order matters.
    classes
        Classes to measure: a mask, such as ``data.evaluated``, or positions. All by default.
    average
        ``"micro"``: over all pairs of a row and a class, the measure of the paper. ``"macro"``: the mean over
        classes. ``"weighted"``: the mean weighted by the number of rows of each class. None: one value per class,
        NaN for a class without a positive row; the means exclude such classes.
    interpolate
        False: average precision. True: interpolate between points as Davis and Goadrich do; Clus reports this value,
        which is slightly lower, more so for classes with few rows.

    Examples
    --------
    >>> auprc([[1, 0], [0, 1]], [[0.9, 0.8], [0.1, 0.7]])
    0.8333333333333333
    >>> auprc([[1, 0], [0, 1]], [[0.9, 0.8], [0.1, 0.7]], average=None)
    array([1. , 0.5])
    """
    if average not in ("micro", "macro", "weighted", None):
        raise ScoreError(f"average is {average!r}; expected 'micro', 'macro', 'weighted' or None.")
    require_rereadable(scores)
    pairs = pair_scores(Y, scores, classes)
    area = _interpolated_area if interpolate else average_precision
    if average == "micro":
        return area(count_together(pairs, ties=interpolate))
    areas = np.full(pairs.truth.shape[1], np.nan)
    for column, points in count_apart(pairs, ties=interpolate):
        areas[column] = area(points)
    if average is None:
        return areas
    sizes = np.bincount(pairs.truth.indices, minlength=len(areas))
    return _mean(areas, sizes if average == "weighted" else np.minimum(sizes, 1))


def divided_auprc(
    Y: LabelsLike, scores: ScoresLike, *, join: Exchange, add: Exchange, classes: ArrayLike | None = None
) -> float:
    """AU(PRC) of the rows of several processes: the same number in all of them as that of all rows in one.

    Parameters
    ----------
    Y, scores, classes
        Some of the rows, as for `auprc`.
    join, add
        Functions of an array that return the arrays of all processes as one, and their sum.

    Examples
    --------
    >>> divided_auprc([[1, 0], [0, 1]], [[0.9, 0.8], [0.1, 0.7]], join=lambda array: array, add=lambda array: array)
    0.8333333333333333
    """
    require_rereadable(scores)
    return average_precision(count_divided(pair_scores(Y, scores, classes), join, add))


def cmap(Y: LabelsLike, scores: ScoresLike, *, classes: ArrayLike | None = None) -> float:
    """Class-mean average precision: the mean over all classes with a positive row."""
    return auprc(Y, scores, classes=classes, average="macro")


def precision_recall_curve(Y: LabelsLike, scores: ScoresLike, *, classes: ArrayLike | None = None) -> Curve:
    """Precision-recall curve of all rows and classes together, with one point for each score of a positive.

    >>> curve = precision_recall_curve([[1, 0], [0, 1]], [[0.9, 0.8], [0.1, 0.7]])
    >>> curve.precision.round(2), curve.recall
    (array([1.  , 0.67]), array([0.5, 1. ]))
    """
    require_rereadable(scores)
    thresholds, true_positives, predicted, *_ = count_together(pair_scores(Y, scores, classes))
    positives = max(int(true_positives[-1]), 1) if len(true_positives) else 1
    return Curve(true_positives / predicted, true_positives / positives, thresholds)


def points_by_class(Y: LabelsLike, scores: ScoresLike, *, classes: ArrayLike | None = None) -> dict[int, Points]:
    """Points of the precision-recall curve of each class that has a positive row, by the position of the class.

    >>> points = points_by_class([[1, 0], [0, 1]], [[0.9, 0.8], [0.1, 0.7]])
    >>> points[1].thresholds, points[1].true_positives, points[1].predicted
    (array([0.7]), array([1]), array([2]))
    """
    require_rereadable(scores)
    pairs = pair_scores(Y, scores, classes)
    columns = pairs.blocks.columns
    found = count_apart(pairs, ties=True)
    return {at if columns is None else int(columns[at]): points for at, points in found}


def average_precision(points: Points) -> float:
    """Area under one curve, from its points: the mean of the precision at each label.

    >>> average_precision(points_by_class([[1, 0], [0, 1]], [[0.9, 0.8], [0.1, 0.7]])[1])
    0.5
    """
    true_positives = points.true_positives
    if not len(true_positives):
        return float("nan")
    precision = true_positives / points.predicted
    return float((np.diff(true_positives, prepend=0) * precision).sum() / true_positives[-1])


def _interpolated_area(points: Points) -> float:
    """Integrate the curve; between two points, false positives grow linearly with true positives."""
    _, true_positives, predicted, above, _ = points
    if not len(true_positives):
        return float("nan")
    before = np.concatenate(([0], true_positives[:-1])).astype(np.float64)
    false_before, false = above - before, (predicted - true_positives).astype(np.float64)
    slope = (false - false_before) / (true_positives - before)
    offset = false_before - slope * before
    tied = np.abs(offset) > 1e-12
    area = (true_positives - before) / (1 + slope)
    start, end = (1 + slope) * before + offset, (1 + slope) * true_positives + offset
    area[tied] -= (offset / (1 + slope) ** 2)[tied] * np.log(end[tied] / start[tied])
    return float(area.sum() / true_positives[-1])


def _mean(values: NDArray[np.float64], weights: NDArray[Any]) -> float:
    """Return the mean over classes with a positive row, or NaN if there is none."""
    counted = weights > 0
    return float(np.average(values[counted], weights=weights[counted])) if counted.any() else float("nan")

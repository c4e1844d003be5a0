"""Measures of scores over all thresholds: AU(PRC) in its forms, and the curve itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import truth_and_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike

Average = Literal["micro", "macro", "weighted"]


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision and recall at each threshold, from the highest to the lowest: of all rows and classes together."""

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
        Which classes count: a mask, such as ``data.evaluated``, or positions. All by default.
    average
        ``"micro"``: of all pairs of a row and a class together, the measure of the paper. ``"macro"``: the mean over
        classes. ``"weighted"``: the mean weighted by the number of rows of each class. None: one figure for each class,
        NaN for a class without a positive row; the means leave those classes out.
    interpolate
        False is average precision. True draws the curve between its points as Davis and Goadrich do, which is what
        Clus reports: a little lower, and more so where classes have few rows.

    Examples
    --------
    >>> auprc([[1, 0], [0, 1]], [[0.9, 0.8], [0.1, 0.7]])
    0.8333333333333333
    >>> auprc([[1, 0], [0, 1]], [[0.9, 0.8], [0.1, 0.7]], average=None)
    array([1. , 0.5])
    """
    if average not in ("micro", "macro", "weighted", None):
        raise ScoreError(f"average is {average!r}; expected 'micro', 'macro', 'weighted' or None.")
    truth, given = truth_and_scores(Y, scores, classes)
    area = _interpolated if interpolate else _average_precision
    if average == "micro":
        return area(truth.ravel(), given.ravel())
    each = np.array([area(truth[:, column], given[:, column]) for column in range(truth.shape[1])])
    if average is None:
        return each
    sizes = truth.sum(axis=0)
    return _mean(each, sizes if average == "weighted" else np.minimum(sizes, 1))


def cmap(Y: LabelsLike, scores: ScoresLike, *, classes: ArrayLike | None = None) -> float:
    """Class-mean average precision: the mean over all classes that have a positive row."""
    return auprc(Y, scores, classes=classes, average="macro")


def precision_recall_curve(Y: LabelsLike, scores: ScoresLike, *, classes: ArrayLike | None = None) -> Curve:
    """The curve of all rows and classes together, with one point for each score that a positive has.

    >>> curve = precision_recall_curve([[1, 0], [0, 1]], [[0.9, 0.8], [0.1, 0.7]])
    >>> curve.precision.round(2), curve.recall
    (array([1.  , 0.67]), array([0.5, 1. ]))
    """
    truth, given = truth_and_scores(Y, scores, classes)
    thresholds, found, _, called = _points(truth.ravel(), given.ravel())
    return Curve(found / called, found / max(int(found[-1]) if len(found) else 0, 1), thresholds)


def _points(
    truth: NDArray[np.bool_], scores: NDArray[np.floating]
) -> tuple[NDArray[np.floating], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Scores of positives from high to low; positives at or above each, and all pairs above, and at or above it.

    Thresholds between two scores of positives change no recall. So only values are sorted, which is far quicker than
    sorting positions, and the counts are looked up.
    """
    positive, everything = np.sort(scores[truth]), np.sort(scores)
    thresholds, first = np.unique(positive, return_index=True)
    found = len(positive) - first
    at_or_above = len(everything) - np.searchsorted(everything, thresholds, side="left")
    above = len(everything) - np.searchsorted(everything, thresholds, side="right")
    return thresholds[::-1], found[::-1], above[::-1], at_or_above[::-1]


def _average_precision(truth: NDArray[np.bool_], scores: NDArray[np.floating]) -> float:
    _, found, _, called = _points(truth, scores)
    if not len(found):
        return float("nan")
    return float((np.diff(found, prepend=0) * (found / called)).sum() / found[-1])


def _interpolated(truth: NDArray[np.bool_], scores: NDArray[np.floating]) -> float:
    """Between two points, false positives grow linearly with true ones; the area below is a logarithm."""
    _, found, above, called = _points(truth, scores)
    if not len(found):
        return float("nan")
    before = np.concatenate(([0], found[:-1])).astype(np.float64)
    wrong_before, wrong = above - before, (called - found).astype(np.float64)
    slope = (wrong - wrong_before) / (found - before)
    offset = wrong_before - slope * before
    tied = np.abs(offset) > 1e-12
    area = (found - before) / (1 + slope)
    start, end = (1 + slope) * before + offset, (1 + slope) * found + offset
    area[tied] -= (offset / (1 + slope) ** 2)[tied] * np.log(end[tied] / start[tied])
    return float(area.sum() / found[-1])


def _mean(values: NDArray[np.float64], weights: NDArray[Any]) -> float:
    """Mean over classes with a positive row; NaN where there is none."""
    known = weights > 0
    return float(np.average(values[known], weights=weights[known])) if known.any() else float("nan")

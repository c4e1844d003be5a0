"""Measures of predicted label sets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chmcnn.errors import ScoreError
from chmcnn.metrics._pairs import pair_predictions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike
    from chmcnn.metrics._pairs import Pairs


class PrecisionRecallF(NamedTuple):
    """Precision, recall, and their harmonic mean."""

    precision: float
    recall: float
    f: float


def hierarchical(
    Y: LabelsLike,
    predicted: LabelsLike,
    *,
    classes: ArrayLike | None = None,
    average: str = "micro",
) -> PrecisionRecallF:
    """Hierarchical precision, recall and F of label matrices that include all ancestors.

    Parameters
    ----------
    Y, predicted
        True and predicted labels (rows, classes), closed under ancestors: `Hierarchy.close` adds missing ones.
    classes
        Mask or positions of the classes to measure. Exclude the roots, as ``data.evaluated`` does.
    average
        ``"micro"`` counts the labels of all rows together; ``"macro"`` is the mean over rows, where a row without a
        prediction or without a label counts as 0, and a row without either as 1.

    Examples
    --------
    >>> hierarchical([[1, 1, 0], [1, 0, 1]], [[1, 1, 0], [1, 0, 0]])
    PrecisionRecallF(precision=1.0, recall=0.75, f=0.8571428571428571)
    """
    shared, true_sizes, predicted_sizes = _count_rows(pair_predictions(Y, predicted, classes))
    if average == "micro":
        precision, recall = _share(shared.sum(), predicted_sizes.sum()), _share(shared.sum(), true_sizes.sum())
        return PrecisionRecallF(precision, recall, _share(2 * precision * recall, precision + recall))
    if average != "macro":
        raise ScoreError(f"average is {average!r}; expected 'micro' or 'macro'.")
    empty = (true_sizes == 0) & (predicted_sizes == 0)
    sizes = (predicted_sizes, true_sizes, (true_sizes + predicted_sizes) / 2)
    rows = [np.where(empty, 1.0, shared / np.maximum(size, 1)) for size in sizes]
    return PrecisionRecallF(*(float(row.mean()) for row in rows))


def exact_match(Y: LabelsLike, predicted: LabelsLike, *, classes: ArrayLike | None = None) -> float:
    """Share of rows with all classes correct.

    >>> exact_match([[1, 1], [1, 0]], [[1, 1], [1, 1]])
    0.5
    """
    shared, true_sizes, predicted_sizes = _count_rows(pair_predictions(Y, predicted, classes))
    return float(((shared == true_sizes) & (shared == predicted_sizes)).mean())


def hamming(Y: LabelsLike, predicted: LabelsLike, *, classes: ArrayLike | None = None) -> float:
    """Share of pairs of a row and a class that are wrong.

    >>> hamming([[1, 1], [1, 0]], [[1, 1], [1, 1]])
    0.25
    """
    pairs = pair_predictions(Y, predicted, classes)
    shared, true_sizes, predicted_sizes = _count_rows(pairs)
    return float((true_sizes + predicted_sizes - 2 * shared).sum() / math.prod(pairs.truth.shape))


def jaccard(
    Y: LabelsLike,
    predicted: LabelsLike,
    *,
    classes: ArrayLike | None = None,
    average: str = "macro",
) -> float:
    """Jaccard index of true and predicted labels: the size of the intersection over the size of the union.

    ``"macro"`` is the mean over rows, with 1 for a row without any label; ``"micro"`` counts the labels of all rows
    together, with 0 if there are none.

    >>> jaccard([[1, 1], [1, 0]], [[1, 1], [1, 1]])
    0.75
    """
    shared, true_sizes, predicted_sizes = _count_rows(pair_predictions(Y, predicted, classes))
    union = true_sizes + predicted_sizes - shared
    if average == "micro":
        return _share(shared.sum(), union.sum())
    if average != "macro":
        raise ScoreError(f"average is {average!r}; expected 'micro' or 'macro'.")
    return float(np.where(union == 0, 1.0, shared / np.maximum(union, 1)).mean())


def _count_rows(pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return how many classes of each row are both true and predicted, true, and predicted."""
    shared, predicted_sizes = np.zeros((2, pairs.truth.shape[0]), dtype=np.int64)
    for rows, predicted in pairs.iterate():
        row, column = pairs.locate(rows)
        shared[rows] = np.bincount(row[predicted[row, column]], minlength=len(predicted))
        predicted_sizes[rows] = np.count_nonzero(predicted, axis=1)
    return shared, pairs.sizes, predicted_sizes


def _share(part: float | NDArray[Any], whole: float | NDArray[Any]) -> float:
    return float(part / whole) if whole else 0.0

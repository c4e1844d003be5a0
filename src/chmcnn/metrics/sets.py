"""Measures of predicted label sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import two_label_matrices

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike


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
    """Hierarchical precision, recall and F, of label matrices that have all ancestors in them.

    Parameters
    ----------
    Y, predicted
        True and predicted labels (rows, classes), closed under ancestors: `Hierarchy.close` closes others.
    classes
        Which classes count: a mask or positions. Leave the roots out, as ``data.evaluated`` does.
    average
        ``"micro"`` counts the labels of all rows together, ``"macro"`` is the mean over rows; a row without a
        prediction, or without a label, counts as 0 there, and as 1 where both are empty.

    Examples
    --------
    >>> hierarchical([[1, 1, 0], [1, 0, 1]], [[1, 1, 0], [1, 0, 0]])
    PrecisionRecallF(precision=1.0, recall=0.75, f=0.8571428571428571)
    """
    truth, given = two_label_matrices(Y, predicted, classes)
    both, true, called = ((matrix).sum(axis=1) for matrix in (truth & given, truth, given))
    if average == "micro":
        precision, recall = _share(both.sum(), called.sum()), _share(both.sum(), true.sum())
        return PrecisionRecallF(precision, recall, _share(2 * precision * recall, precision + recall))
    if average != "macro":
        raise ScoreError(f"average is {average!r}; expected 'micro' or 'macro'.")
    empty = (true == 0) & (called == 0)
    rows = [np.where(empty, 1.0, both / np.maximum(size, 1)) for size in (called, true, (true + called) / 2)]
    return PrecisionRecallF(*(float(row.mean()) for row in rows))


def exact_match(Y: LabelsLike, predicted: LabelsLike, *, classes: ArrayLike | None = None) -> float:
    """Share of rows with all classes right.

    >>> exact_match([[1, 1], [1, 0]], [[1, 1], [1, 1]])
    0.5
    """
    truth, given = two_label_matrices(Y, predicted, classes)
    return float((truth == given).all(axis=1).mean())


def hamming(Y: LabelsLike, predicted: LabelsLike, *, classes: ArrayLike | None = None) -> float:
    """Share of pairs of a row and a class that are wrong.

    >>> hamming([[1, 1], [1, 0]], [[1, 1], [1, 1]])
    0.25
    """
    truth, given = two_label_matrices(Y, predicted, classes)
    return float((truth != given).mean())


def jaccard(
    Y: LabelsLike,
    predicted: LabelsLike,
    *,
    classes: ArrayLike | None = None,
    average: str = "macro",
) -> float:
    """The common share of true and predicted labels.

    ``"macro"`` is the mean over rows, with 1 for a row where both are empty; ``"micro"`` counts the labels of all rows
    together, with 0 where there are none.

    >>> jaccard([[1, 1], [1, 0]], [[1, 1], [1, 1]])
    0.75
    """
    truth, given = two_label_matrices(Y, predicted, classes)
    both, either = (truth & given).sum(axis=1), (truth | given).sum(axis=1)
    if average == "micro":
        return _share(both.sum(), either.sum())
    if average != "macro":
        raise ScoreError(f"average is {average!r}; expected 'micro' or 'macro'.")
    return float(np.where(either == 0, 1.0, both / np.maximum(either, 1)).mean())


def _share(part: float | NDArray[Any], whole: float | NDArray[Any]) -> float:
    return float(part / whole) if whole else 0.0

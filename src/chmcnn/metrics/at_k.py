"""Measures of the classes that a row ranks highest: precision and recall at k, and R-precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chmcnn._wording import count
from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import check_scores, iterate_blocks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike


def precision_at_k(Y: LabelsLike, scores: ScoresLike, k: int = 5, *, classes: ArrayLike | None = None) -> float:
    """Share of true classes among the k classes with the highest scores, as a mean over rows.

    Coherent scores often tie: a class may score exactly as high as its best descendant. Where classes tie for the last
    of the k places, each counts in part, as on average over all orders of them.

    Parameters
    ----------
    Y, scores
        True labels and scores (rows, classes).
    k
        Number of classes to look at in each row.
    classes
        Classes to measure: a mask or positions. Roots and other classes of nearly all rows make this measure easy:
        leave them out, or measure the leaves only.

    Examples
    --------
    >>> precision_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.6], [0.9, 0.5, 0.6]], k=2)
    0.5
    """
    truth, values = check_scores(Y, scores, classes)
    hits = _count_hits(truth, values, np.full(len(truth), _check_k(k, truth.shape[1])))
    return float(hits.mean() / k)


def recall_at_k(Y: LabelsLike, scores: ScoresLike, k: int = 5, *, classes: ArrayLike | None = None) -> float:
    """Share of the true classes of a row that are among the k with the highest scores, as a mean over labelled rows.

    Ties are treated as in `precision_at_k`. NaN if no row has a label.

    >>> recall_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.6], [0.9, 0.5, 0.6]], k=2)
    0.5
    """
    truth, values = check_scores(Y, scores, classes)
    hits = _count_hits(truth, values, np.full(len(truth), _check_k(k, truth.shape[1])))
    return _mean_share(hits, truth.sum(axis=1))


def r_precision(Y: LabelsLike, scores: ScoresLike, *, classes: ArrayLike | None = None) -> float:
    """Precision at R, where R is the number of true classes of the row, as a mean over labelled rows.

    At R classes, precision and recall are equal. Ties are treated as in `precision_at_k`. NaN if no row has a label.

    >>> r_precision([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.6], [0.9, 0.5, 0.6]])
    0.5
    """
    truth, values = check_scores(Y, scores, classes)
    sizes = truth.sum(axis=1)
    return _mean_share(_count_hits(truth, values, sizes), sizes)


def _check_k(k: int, classes: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ScoreError(f"k is {k!r}; expected an integer from 1.")
    if k > classes:
        raise ScoreError(f"k is {k}, but there {'is' if classes == 1 else 'are'} only {count(classes, 'class')}.")
    return int(k)


def _count_hits(
    truth: NDArray[np.bool_], scores: NDArray[np.floating], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Count the true classes among the highest scores of each row, as many as ``sizes`` says for it."""
    hits = np.zeros(len(truth))
    for block in iterate_blocks(truth.shape):
        size = sizes[block]
        last = np.maximum(size, 1)
        same = bool((last == last[0]).all())
        place = truth.shape[1] - last
        ordered = np.partition(scores[block], place[0], axis=1) if same else np.sort(scores[block], axis=1)
        limit = np.take_along_axis(ordered, place[:, None], axis=1)  # the score at the last of the places
        above, tied = scores[block] > limit, scores[block] == limit
        room = size - above.sum(axis=1)
        share = room / tied.sum(axis=1)
        hits[block] = (above & truth[block]).sum(axis=1) + share * (tied & truth[block]).sum(axis=1)
    return np.where(sizes > 0, hits, 0.0)


def _mean_share(parts: NDArray[np.float64], wholes: NDArray[np.int64]) -> float:
    """Return the mean share of rows that have a whole; NaN if none has."""
    labelled = wholes > 0
    return float((parts[labelled] / wholes[labelled]).mean()) if labelled.any() else float("nan")

"""Measures of the classes that a row ranks highest: precision and recall at k, and R-precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chmcnn._wording import count
from chmcnn.errors import ScoreError
from chmcnn.metrics._pairs import pair_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.metrics._pairs import Pairs


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
    pairs = pair_scores(Y, scores, classes)
    hits = _count_hits(pairs, _repeat_k(k, pairs))
    return float(hits.mean() / k)


def recall_at_k(Y: LabelsLike, scores: ScoresLike, k: int = 5, *, classes: ArrayLike | None = None) -> float:
    """Share of the true classes of a row that are among the k with the highest scores, as a mean over labelled rows.

    Ties are treated as in `precision_at_k`. NaN if no row has a label.

    >>> recall_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.6], [0.9, 0.5, 0.6]], k=2)
    0.5
    """
    pairs = pair_scores(Y, scores, classes)
    return _mean_share(_count_hits(pairs, _repeat_k(k, pairs)), pairs.sizes)


def r_precision(Y: LabelsLike, scores: ScoresLike, *, classes: ArrayLike | None = None) -> float:
    """Precision at R, where R is the number of true classes of the row, as a mean over labelled rows.

    At R classes, precision and recall are equal. Ties are treated as in `precision_at_k`. NaN if no row has a label.

    >>> r_precision([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.6], [0.9, 0.5, 0.6]])
    0.5
    """
    pairs = pair_scores(Y, scores, classes)
    return _mean_share(_count_hits(pairs, pairs.sizes), pairs.sizes)


def _repeat_k(k: int, pairs: Pairs) -> NDArray[np.int64]:
    """Check k, and return it for each row."""
    rows, classes = pairs.truth.shape
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ScoreError(f"k is {k!r}; expected an integer from 1.")
    if k > classes:
        raise ScoreError(f"k is {k}, but there {'is' if classes == 1 else 'are'} only {count(classes, 'class')}.")
    return np.full(rows, k)


def _count_hits(pairs: Pairs, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Count the true classes among the highest scores of each row, as many as ``sizes`` says for it."""
    hits = np.zeros(len(sizes))
    for rows, scores in pairs.iterate():
        size = sizes[rows]
        last = np.maximum(size, 1)
        same = bool((last == last[0]).all())
        place = scores.shape[1] - last
        ordered = np.partition(scores, place[0], axis=1) if same else np.sort(scores, axis=1)
        limit = np.take_along_axis(ordered, place[:, None], axis=1)[:, 0]  # the score at the last of the places
        above, tied = (compared.sum(axis=1) for compared in (scores > limit[:, None], scores == limit[:, None]))
        row, column = pairs.locate(rows)
        true = scores[row, column]
        true_above, true_tied = (
            np.bincount(row[chosen], minlength=len(size)) for chosen in (true > limit[row], true == limit[row])
        )
        hits[rows] = true_above + (size - above) / tied * true_tied
    return np.where(sizes > 0, hits, 0.0)


def _mean_share(parts: NDArray[np.float64], wholes: NDArray[np.int64]) -> float:
    """Return the mean share of rows that have a whole; NaN if none has."""
    labelled = wholes > 0
    return float((parts[labelled] / wholes[labelled]).mean()) if labelled.any() else float("nan")

"""What can go wrong with answers at or above a threshold, at each of several thresholds, as a mean over rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chmcnn.hierarchy import follow_best_path
from chmcnn.metrics._inputs import as_probabilities
from chmcnn.metrics._pairs import pair_scores
from chmcnn.metrics._sweep import Block

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy


def missed_share(
    Y: LabelsLike, scores: ScoresLike, thresholds: NDArray[np.float64], *, classes: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Share of the classes of a row that score below each threshold, as a mean over rows; it rises with the threshold.

    A row without classes misses none. Thresholds are sorted.

    >>> missed_share([[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.2]], np.array([0.3, 0.5, 0.85]))
    array([0.  , 0.25, 0.75])
    """
    pairs = pair_scores(Y, scores, classes, check=as_probabilities)
    found = np.concatenate([values[pairs.locate(rows)] for rows, values in pairs.iterate()])
    weights = np.repeat(1 / np.maximum(pairs.sizes, 1), pairs.sizes)
    reached = np.searchsorted(thresholds, found, side="right")  # number of thresholds that each label reaches
    missed = np.bincount(reached, weights, len(thresholds) + 1)[:-1]
    return missed.cumsum() / pairs.truth.shape[0]


def wrong_share(
    Y: LabelsLike, scores: ScoresLike, thresholds: NDArray[np.float64], *, classes: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Share of the answered classes of a row that are wrong, at each threshold, as a mean over rows.

    A row without an answer has no wrong class. The mean mostly falls with the threshold, but may rise. Thresholds are
    sorted.

    >>> wrong_share([[1, 0], [1, 0]], [[0.9, 0.4], [0.8, 0.2]], np.array([0.3, 0.5]))
    array([0.25, 0.  ])
    """
    pairs = pair_scores(Y, scores, classes, check=as_probabilities)
    total, weights = np.zeros(len(thresholds)), np.ones(pairs.truth.shape[1])
    for rows, values in pairs.iterate(cells=len(thresholds)):
        answered, right = Block(values, *pairs.locate(rows), weights).sum_reached(thresholds)
        for row in (answered - right) / np.maximum(answered, 1):  # one by one: the order decides the last digit
            total += row
    return total / pairs.truth.shape[0]


def back_off_error(
    Y: LabelsLike, scores: ScoresLike, thresholds: NDArray[np.float64], hierarchy: Hierarchy
) -> NDArray[np.float64]:
    """Share of rows whose deepest answer is wrong, if the best path of each row ends at each threshold.

    A row without an answer is not wrong. Labels have all ancestors: an answer is wrong from the first wrong class of
    its path on, so the share never rises with the threshold. Thresholds are sorted.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> back_off_error([[1, 1, 0], [1, 0, 1]], [[0.9, 0.2, 0.7], [0.8, 0.1, 0.6]], np.array([0.5, 0.75]), tree)
    array([0.5, 0. ])
    """
    pairs = pair_scores(Y, scores, check=as_probabilities)
    reached = []
    for rows, values in pairs.iterate():
        wrong = np.full(len(values), -1.0)  # score of the first wrong class of the path of each row
        truth = pairs.truth[rows].toarray()
        for some, step in follow_best_path(hierarchy, values):
            first = (wrong[some] < 0) & ~truth[some, step]
            wrong[some[first]] = values[some[first], step[first]]
        reached.append(np.searchsorted(thresholds, wrong, side="right"))
    counts = np.bincount(np.concatenate(reached), minlength=len(thresholds) + 1)
    return counts[:0:-1].cumsum()[::-1] / pairs.truth.shape[0]

"""The best classes of each row, from blocks of scores: memory grows with what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chmcnn.settings import ABOVE_ZERO, PROBABILITY, check

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy


class RankedClass(NamedTuple):
    """A class of a row, and its score."""

    name: str
    score: float


class Ranked(NamedTuple):
    """The classes kept of some rows: one element for each, row by row, best first."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]  # positions of the classes
    scores: NDArray[np.floating]


class Ranker:
    """Selects the best classes of rows of coherent scores.

    Equal scores put a class before its descendants, and otherwise the first column first.

    Parameters
    ----------
    hierarchy
        The classes.
    k
        Number of classes to keep of each row; None keeps all.
    min_score
        Lowest score to keep.
    within
        Keep this class and its descendants only.
    most_specific
        Leave out a class if one of its children reaches ``min_score``.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> ranker = Ranker(Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")]), 2)
    >>> ranker.rank(np.array([[0.9, 0.2, 0.9], [0.3, 0.1, 0.2]])).columns.reshape(2, 2)
    array([[0, 2],
           [0, 2]])
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        k: int | None = None,
        *,
        min_score: float = 0.0,
        within: str | None = None,
        most_specific: bool = False,
    ) -> None:
        self.k = None if k is None else int(check("k", k, ABOVE_ZERO))
        self.min_score = float(check("min_score", min_score, PROBABILITY))
        self.most_specific = most_specific
        columns = np.argsort(hierarchy.depths, kind="stable")
        if within is not None:
            kept = [hierarchy.index(name) for name in (within, *hierarchy.descendants(within))]
            columns = columns[np.isin(columns, kept)]
        self._columns = columns
        self._parents, self._starts = np.unique(hierarchy.edges[:, 0], return_index=True)
        self._children = hierarchy.edges[:, 1]

    def rank(self, scores: NDArray[np.floating]) -> Ranked:
        """Return the best classes of scores (rows, classes)."""
        reached = scores >= self.min_score
        if self.most_specific and len(self._parents):
            has_child = np.logical_or.reduceat(reached[:, self._children], self._starts, axis=1)
            reached[:, self._parents] &= ~has_child
        values, kept = scores[:, self._columns], reached[:, self._columns]
        if self.k is not None and self.k < len(self._columns):
            kept = _keep_best(values, kept, self.k)
        rows, places = np.nonzero(kept)
        picked = values[rows, places]
        order = np.lexsort((places, -picked, rows))
        return Ranked(rows[order], self._columns[places[order]], picked[order])


def _keep_best(values: NDArray[np.floating], kept: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Return a mask of the k highest values of each row that are kept; among equal ones the first."""
    candidates = np.where(kept, values, -1)
    place = candidates.shape[1] - k
    lowest = np.partition(candidates, place, axis=1)[:, [place]]
    above, equal = candidates > lowest, kept & (candidates == lowest)
    room = k - above.sum(axis=1, keepdims=True)
    best: NDArray[np.bool_] = above | (equal & (equal.cumsum(axis=1) <= room))
    return best

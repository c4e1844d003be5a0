"""How each class is predicted: its precision-recall curve, who decides its score, and what it is confused with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from chmcnn import metrics

RECALLS = np.linspace(0, 1, 21)
"""Where the curve of a class is read: more points would not be visible."""
_MOST = 5
"""Classes that are kept of each class, the most frequent ones."""
_IN_A_ROW = 32
"""Missed, and wrong, classes of a row that are paired: those with the highest scores."""
_PAIRS = 1 << 22
"""Different pairs that are counted at once; beyond, the rarer half is forgotten."""


class Frequent(NamedTuple):
    """The most frequent partners of each class: arrays in the order of classes, the most frequent partner first."""

    classes: NDArray[np.int64]
    partners: NDArray[np.int64]
    counts: NDArray[np.int64]

    def of(self, at: int) -> list[tuple[int, int]]:
        """Return the partners of the class at a position, with their counts.

        >>> Frequent(np.array([0, 2, 2]), np.array([1, 0, 1]), np.array([9, 8, 7])).of(2)
        [(0, 8), (1, 7)]
        """
        first, end = np.searchsorted(self.classes, (at, at + 1))
        return list(zip(self.partners[first:end].tolist(), self.counts[first:end].tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class ClassProfiles:
    """How each class is predicted; a class is named by its position."""

    rows: NDArray[np.int64]  # (classes,) rows that have a class, also one that is not evaluated
    curves: NDArray[np.float64]  # (classes, recalls) precision at `RECALLS`; NaN for a class without a positive row
    delegates: Frequent  # who decides the score of a class, where it is predicted; also the class itself
    replaced_by: Frequent  # a class is missed, and its partner is predicted wrongly
    replaces: Frequent  # a class is predicted wrongly, and its partner is missed


class PairCounts:
    """How often pairs of classes occur, in bounded memory: if there are too many pairs, rare ones are forgotten.

    >>> counts = PairCounts(3)
    >>> counts.add(np.array([0, 0, 1]), np.array([2, 2, 0]))
    >>> counts.most_frequent()
    Frequent(classes=array([0, 1]), partners=array([2, 0]), counts=array([2, 1]))
    """

    def __init__(self, classes: int, most: int = _PAIRS) -> None:
        self._classes, self._most = classes, most
        self._new: list[NDArray[np.int64]] = []
        self._size = 0
        self._pairs, self._counts = np.zeros((2, 0), dtype=np.int64)

    def add(self, classes: NDArray[np.integer], partners: NDArray[np.integer]) -> None:
        """Count pairs, one for each position of the two arrays."""
        self._new.append(classes.astype(np.int64) * self._classes + partners)
        self._size += len(classes)
        if self._size > self._most:
            self._merge()

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return classes, partners, and how often each pair occurred."""
        self._merge()
        return *np.divmod(self._pairs, self._classes), self._counts

    def most_frequent(self, *, reverse: bool = False) -> Frequent:
        """Return the most frequent partners of each class, or of each partner if ``reverse``."""
        classes, partners, counts = self.pairs()
        return keep_most_frequent(*((partners, classes) if reverse else (classes, partners)), counts)

    def _merge(self) -> None:
        if not self._new:
            return
        pairs = np.concatenate([self._pairs, *self._new])
        weights = np.concatenate([self._counts, np.ones(self._size, dtype=np.int64)])
        self._pairs, place = np.unique(pairs, return_inverse=True)
        self._counts = np.bincount(place, weights).astype(np.int64)
        self._new, self._size = [], 0
        if len(self._pairs) > self._most // 2:
            kept = np.sort(np.argsort(-self._counts, kind="stable")[: self._most // 2])
            self._pairs, self._counts = self._pairs[kept], self._counts[kept]


def keep_most_frequent(
    classes: NDArray[np.int64], partners: NDArray[np.int64], counts: NDArray[np.int64], most: int = _MOST
) -> Frequent:
    """Keep the most frequent partners of each class; of equally frequent ones, those that come first."""
    order = np.lexsort((partners, -counts, classes))
    kept = order[_rank(classes[order]) < most]
    return Frequent(classes[kept], partners[kept], counts[kept])


def pair_confusions(
    true: NDArray[np.bool_], predicted: NDArray[np.bool_], scores: NDArray[np.floating], counted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each missed class with each class that is predicted wrongly in the same row, as positions.

    Labels and predictions are closed under ancestors, so none of a pair is an ancestor of the other.
    """
    missed = _find_highest(true & ~predicted & counted, scores)
    wrong = _find_highest(predicted & ~true & counted, scores)
    found = [np.zeros((2, 0), dtype=np.int64)]
    for ours, theirs in _match_rows(missed, wrong):
        found.append(np.stack((np.repeat(ours, len(theirs)), np.tile(theirs, len(ours)))))
    both = np.concatenate(found, axis=1)
    return both[0], both[1]


def read_curves(
    points: dict[int, metrics.Points], sizes: NDArray[np.int64], recalls: NDArray[np.float64] = RECALLS
) -> NDArray[np.float64]:
    """Return the precision of each class (classes, recalls) at the highest threshold that reaches each recall."""
    curves = np.full((len(sizes), len(recalls)), np.nan)
    for at, each in points.items():
        wanted = np.maximum(np.ceil(recalls * sizes[at] - 1e-9), 1)
        place = np.searchsorted(each.true_positives, wanted)
        curves[at] = (each.true_positives / each.predicted)[place]
    return curves


def _find_highest(mask: NDArray[np.bool_], scores: NDArray[np.floating]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of a mask, of each row only those with the highest scores."""
    rows, columns = np.nonzero(mask)
    order = np.lexsort((columns, -scores[rows, columns], rows))
    kept = order[_rank(rows[order]) < _IN_A_ROW]
    return rows[kept], columns[kept]


def _rank(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each entry within its group; groups are sorted."""
    return np.arange(len(groups)) - np.searchsorted(groups, groups)


def _match_rows(
    one: tuple[NDArray[np.int64], NDArray[np.int64]], other: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the columns of both, for each row that both have."""
    rows = np.intersect1d(one[0], other[0])
    bounds = [(np.searchsorted(at, rows), np.searchsorted(at, rows, side="right")) for at, _ in (one, other)]
    for (first, end), (start, stop) in zip(zip(*bounds[0], strict=True), zip(*bounds[1], strict=True), strict=True):
        yield one[1][first:end], other[1][start:stop]

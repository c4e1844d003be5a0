"""Parts of rows that have the same share of every class: iterative stratification (Sechidis et al. 2011)."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from chmcnn.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from chmcnn._typing import LabelsLike

_LONGEST = 2
"""Entries of the queue for each class, old ones among them, from which it is made anew."""


def stratify(labels: LabelsLike, sizes: Sequence[int], seed: int) -> list[NDArray[np.int64]]:
    """Divide rows into parts of exact sizes, with the rows of each class in proportion to these sizes.

    The class with the fewest rows left comes first: each of its rows goes to the part that lacks this class most, then
    to the part that lacks rows most, then to one drawn by the seed. A full part takes no more rows. Time and memory
    grow with the number of labels, not with rows times classes.

    Parameters
    ----------
    labels
        A 0/1 matrix (rows, classes), dense or sparse.
    sizes
        Number of rows of each part; they add up to all rows.
    seed
        Decides what the rule leaves open. The same seed gives the same parts.

    Returns
    -------
    The positions of the rows of each part, in ascending order.

    Examples
    --------
    >>> parts = stratify(np.eye(2)[[0] * 8 + [1] * 4], (9, 3), seed=0)
    >>> [[int((rows < 8).sum()), int((rows >= 8).sum())] for rows in parts]
    [[6, 3], [2, 1]]
    """
    by_row = cast("Any", sparse.csr_array)(labels)
    rows = by_row.shape[0]
    if sum(sizes) != rows:
        raise DatasetError(f"The sizes {tuple(sizes)} add up to {sum(sizes)}, but there are {rows} rows.")
    random = np.random.default_rng(seed)
    drawing = _Drawing(by_row, np.asarray(sizes, dtype=np.float64), random)
    for label in drawing.rarest_first(random.permutation(by_row.shape[1])):
        drawing.place_rows_of(label)
    drawing.place_unlabelled(random)
    return [np.flatnonzero(drawing.parts == part) for part in range(len(sizes))]


class _Drawing:
    """Which rows are in which part so far, and what each part lacks."""

    def __init__(self, by_row: sparse.csr_array, sizes: NDArray[np.float64], random: np.random.Generator) -> None:
        self.by_row = by_row
        self.by_class = sparse.csc_array(by_row)
        self.left = np.diff(self.by_class.indptr).astype(np.int64)  # rows of each class that have no part yet
        shares = sizes / max(sizes.sum(), 1)
        self.lacking = np.outer(self.left, shares)  # (classes, parts) rows that are still wanted
        self.free = sizes.copy()  # rows that still fit into each part
        self.parts = np.full(by_row.shape[0], -1, dtype=np.int64)
        self.order = random.permutation(by_row.shape[0])
        self.draws = random.random(by_row.shape[0])  # one for each row, for parts that lack the same
        self.changed: set[int] = set()

    def rarest_first(self, ties: NDArray[np.int64]) -> Iterator[int]:
        """Yield the class with the fewest rows left until no labelled row is left; equal ones in the order of ties."""
        left, queue = self.left, self._queue(ties)
        while queue:
            number, _, label = heapq.heappop(queue)
            if number != left[label] or not number:
                continue  # it has changed since: a newer entry is in the queue, or no row is left
            yield label
            for other in self.changed:
                heapq.heappush(queue, (int(left[other]), int(ties[other]), other))
            self.changed.clear()
            if len(queue) > _LONGEST * len(left):
                queue = self._queue(ties)

    def _queue(self, ties: NDArray[np.int64]) -> list[tuple[int, int, int]]:
        """Return the classes that have rows left, as a heap."""
        queue = [(int(self.left[label]), int(ties[label]), int(label)) for label in np.flatnonzero(self.left)]
        heapq.heapify(queue)
        return queue

    def place_rows_of(self, label: int) -> None:
        """Give a part to each row of a class that has none yet."""
        rows = self.by_class.indices[self.by_class.indptr[label] : self.by_class.indptr[label + 1]]
        open_rows = rows[self.parts[rows] < 0]
        for row in open_rows[np.argsort(self.order[open_rows])].tolist():
            part = self._choose(self.lacking[label], row)
            labels = self.by_row.indices[self.by_row.indptr[row] : self.by_row.indptr[row + 1]]
            self.parts[row] = part
            self.free[part] -= 1
            self.lacking[labels, part] -= 1
            self.left[labels] -= 1
            self.changed.update(labels.tolist())

    def place_unlabelled(self, random: np.random.Generator) -> None:
        """Fill the parts with the rows that have no class."""
        rows = np.flatnonzero(self.parts < 0)
        self.parts[rows] = random.permutation(np.repeat(np.arange(len(self.free)), np.rint(self.free).astype(int)))

    def _choose(self, lacking: NDArray[np.float64], row: int) -> int:
        """Return the part that lacks a class most, then rows most, of those that are not full."""
        best: list[int] = []
        most = (-np.inf, -np.inf)
        for part, wanted in enumerate(zip(lacking.tolist(), self.free.tolist(), strict=True)):
            if wanted[1] < 0.5 or wanted < most:
                continue
            best = [*best, part] if wanted == most else [part]
            most = wanted
        return best[int(self.draws[row] * len(best))]

"""The best path of each row, from a root to a leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from chmcnn.hierarchy._hierarchy import Hierarchy


def follow_best_path(
    hierarchy: Hierarchy, scores: NDArray[np.floating]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Walk from the best root of each row to its best child, and so on, down to a leaf.

    Yields, step by step, the rows that have not reached a leaf before, and the class of each. The first of equal scores
    is taken. If scores are coherent, they never rise along a path.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")], classes=["animal", "cat", "dog", "plant"])
    >>> [step for _, step in follow_best_path(tree, np.array([[0.9, 0.2, 0.6, 0.3], [0.1, 0.1, 0.0, 0.8]]))]
    [array([0, 3]), array([2])]
    """
    parents, children = hierarchy.edges.T  # sorted by parent
    sizes = np.bincount(parents, minlength=len(hierarchy))
    starts = np.cumsum(sizes) - sizes
    roots = np.flatnonzero(hierarchy.depths == 0)
    rows, current = np.arange(len(scores)), roots[scores[:, roots].argmax(axis=1)]
    while len(rows):
        yield rows, current
        goes_on = sizes[current] > 0
        rows, current = rows[goes_on], current[goes_on]
        current = _choose_best(scores, rows, children, starts[current], sizes[current])


def _choose_best(
    scores: NDArray[np.floating],
    rows: NDArray[np.int64],
    children: NDArray[np.int64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the best of the children of each row, which are a part of the list of all children."""
    first = np.cumsum(sizes) - sizes  # of each row among the candidates
    owner = np.repeat(np.arange(len(rows)), sizes)
    candidates = children[np.arange(len(owner)) + (starts - first)[owner]]
    order = np.lexsort((candidates, -scores[rows[owner], candidates], owner))
    best: NDArray[np.int64] = candidates[order[first]]
    return best

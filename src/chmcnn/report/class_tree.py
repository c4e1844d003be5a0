"""The largest classes of a hierarchy as a tree to open and close: pictures of more than some 40 cannot be read."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from chmcnn.report.overview import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy

_NODES = 300
_CHILDREN = 12


@dataclass(slots=True)
class Branch:
    """A class, and the largest classes below it."""

    name: str
    rows: int
    descendants: int  # each class is counted below one parent
    children: list[Branch] = field(default_factory=list)
    more: int = 0  # children that are not in the tree


def prune(hierarchy: Hierarchy, sizes: NDArray[np.int64], nodes: int = _NODES, children: int = _CHILDREN) -> Branch:
    """Return the classes with most rows as a tree, below a root without a name.

    >>> from chmcnn import Hierarchy
    >>> tree = prune(Hierarchy.from_paths(["a/b", "a/c", "d"]), np.array([9, 2, 7, 1]), children=1)
    >>> tree.more, [(branch.name, branch.more, branch.children[0].name) for branch in tree.children]
    (1, [('a', 1, 'a/c')])
    """
    below = span(hierarchy)
    descendants = _count_descendants(hierarchy, below)
    top = Branch("", 0, len(hierarchy))
    waiting = [(0, -1, top, [hierarchy.index(root) for root in hierarchy.roots])]
    free = nodes
    while waiting and free > 0:
        _, _, branch, positions = heapq.heappop(waiting)
        kept = sorted(positions, key=lambda at: -sizes[at])[: min(children, free)]
        branch.more, free = len(positions) - len(kept), free - len(kept)
        for at in kept:
            child = Branch(hierarchy.classes[at], int(sizes[at]), int(descendants[at]), more=len(below[at]))
            branch.children.append(child)
            if below[at]:
                heapq.heappush(waiting, (-child.rows, at, child, below[at]))
    return top


def _count_descendants(hierarchy: Hierarchy, below: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    counts = np.zeros(len(hierarchy), dtype=np.int64)
    for at in np.argsort(-hierarchy.depths).tolist():  # deepest first
        counts[at] = sum(1 + counts[child] for child in below[at])
    return counts

"""Graph algorithms on plain integer arrays, linear in classes and edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The neighbours of each node, stored as in a CSR matrix."""

    pointers: IntArray
    nodes: IntArray

    @classmethod
    def of(cls, size: int, edges: IntArray) -> Self:
        """Group the second column of ``edges`` by the first."""
        pointers = np.concatenate(([0], np.cumsum(np.bincount(edges[:, 0], minlength=size))))
        return cls(pointers, edges[np.argsort(edges[:, 0], kind="stable"), 1])

    def __getitem__(self, node: int) -> IntArray:
        return self.nodes[self.pointers[node] : self.pointers[node + 1]]

    def of_all(self, nodes: IntArray) -> IntArray:
        """Return the neighbours of several nodes, one after the other."""
        starts = self.pointers[nodes]
        counts = self.pointers[nodes + 1] - starts
        before = np.cumsum(counts) - counts
        positions: IntArray = np.repeat(starts - before, counts) + np.arange(counts.sum())
        return self.nodes[positions]

    def without_any(self) -> IntArray:
        """Return the nodes without neighbours."""
        return np.flatnonzero(np.diff(self.pointers) == 0)

    def reachable(self, start: int) -> IntArray:
        """Return all nodes reachable from ``start``, sorted, without ``start`` itself."""
        seen: set[int] = set()
        stack = [start]
        while stack:
            fresh = set(self[stack.pop()].tolist()) - seen
            seen |= fresh
            stack.extend(fresh)
        return np.array(sorted(seen), dtype=np.int64)


def depths(children: Neighbours) -> IntArray:
    """Return the longest path from any root to each node; -1 for a node on a cycle or below one.

    Kahn's algorithm, one level at a time: a node is reached after the last of its parents.
    """
    size = len(children.pointers) - 1
    waiting = np.bincount(children.nodes, minlength=size)
    depth = np.full(size, -1, dtype=np.int64)
    level = np.flatnonzero(waiting == 0)
    number = 0
    while len(level):
        depth[level] = number
        reached, times = np.unique(children.of_all(level), return_counts=True)
        waiting[reached] -= times
        level = reached[waiting[reached] == 0]
        number += 1
    return depth


def find_cycle(edges: IntArray, depth: IntArray) -> list[int]:
    """Return the nodes of one cycle, from parent to child, if `depths` is -1 for some."""
    # A node at -1 has a parent at -1, so a walk from parent to parent must meet itself.
    stuck = edges[(depth[edges] < 0).all(axis=1)]
    parent_of = dict(zip(stuck[:, 1].tolist(), stuck[:, 0].tolist(), strict=True))
    node = int(stuck[0, 1])
    walked: dict[int, int] = {}
    while node not in walked:
        walked[node] = len(walked)
        node = parent_of[node]
    return list(walked)[walked[node] :][::-1]

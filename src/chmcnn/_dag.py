"""Graph algorithms on plain integer arrays, linear in classes and edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """For each node the nodes on the other end of its edges, as in a CSR matrix."""

    pointers: IntArray
    nodes: IntArray

    @classmethod
    def of(cls, size: int, edges: IntArray) -> Self:
        """Group the second column of ``edges`` by the first."""
        pointers = np.concatenate(([0], np.cumsum(np.bincount(edges[:, 0], minlength=size))))
        return cls(pointers, edges[np.argsort(edges[:, 0], kind="stable"), 1])

    def __getitem__(self, node: int) -> IntArray:
        return self.nodes[self.pointers[node] : self.pointers[node + 1]]

    def without_any(self) -> IntArray:
        """Nodes that have no neighbour."""
        return np.flatnonzero(np.diff(self.pointers) == 0)

    def reachable(self, start: int) -> IntArray:
        """All nodes that can be reached from ``start``, sorted, without ``start`` itself."""
        seen: set[int] = set()
        stack = [start]
        while stack:
            fresh = set(self[stack.pop()].tolist()) - seen
            seen |= fresh
            stack.extend(fresh)
        return np.array(sorted(seen), dtype=np.int64)


def depths(size: int, edges: IntArray) -> IntArray:
    """Longest path from any root to each node; -1 for a node that is on a cycle or below one.

    Kahn's algorithm, node by node: taking whole levels at once would be faster on shallow graphs, but needs as many
    passes as the graph is deep, a million of them for a chain of a million classes.
    """
    children = Neighbours.of(size, edges)
    start, child = children.pointers.tolist(), children.nodes.tolist()
    waiting = np.bincount(edges[:, 1], minlength=size).tolist()
    depth = [0] * size
    ready = [node for node in range(size) if not waiting[node]]
    for node in ready:  # grows while it is walked
        below = depth[node] + 1
        for position in range(start[node], start[node + 1]):
            other = child[position]
            depth[other] = max(depth[other], below)
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return np.where(waiting, -1, depth).astype(np.int64)


def find_cycle(edges: IntArray, depth: IntArray) -> list[int]:
    """The nodes of one cycle, from parent to child, where `depths` has left some at -1."""
    # A node left at -1 has a parent left at -1, so that a walk from parent to parent must meet itself.
    stuck = edges[(depth[edges] < 0).all(axis=1)]
    parent_of = dict(zip(stuck[:, 1].tolist(), stuck[:, 0].tolist(), strict=True))
    node = int(stuck[0, 1])
    walked: dict[int, int] = {}
    while node not in walked:
        walked[node] = len(walked)
        node = parent_of[node]
    return list(walked)[walked[node] :][::-1]

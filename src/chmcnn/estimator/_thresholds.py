"""Thresholds for each class that keep predictions coherent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy


def tune(Y: NDArray[np.bool_], scores: NDArray[np.floating], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """The threshold of each class with the best F1 on validation data, at or above those of its parents.

    Scores must be coherent; then a prediction is too: what reaches a child's threshold reaches its parents'. A class
    without a positive row has the highest of its parents' thresholds, and 0.5 without any parent.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("a", "b")])
    >>> tune(np.array([[1, 1], [1, 0], [0, 0]], dtype=bool), np.array([[0.9, 0.4], [0.8, 0.1], [0.3, 0.1]]), tree)
    array([0.55, 0.55])
    """
    found = np.zeros(len(hierarchy))
    parents: list[list[int]] = [[] for _ in hierarchy.classes]
    for parent, child in hierarchy.edges.tolist():
        parents[child].append(parent)
    for column in np.argsort(hierarchy.depths, kind="stable").tolist():
        least = max((float(found[parent]) for parent in parents[column]), default=0.0)
        found[column] = _best(Y[:, column], scores[:, column], least)
    return found


def _best(truth: NDArray[np.bool_], scores: NDArray[np.floating], least: float) -> float:
    """Half-way between the lowest score that is still called and the next one below, but not below ``least``."""
    reached = scores >= least
    if not truth[reached].any():
        return least or 0.5
    order = np.argsort(-scores[reached], kind="stable")
    ranked, found = scores[reached][order].astype(np.float64), np.cumsum(truth[reached][order])
    f = 2 * found / (np.arange(1, len(ranked) + 1) + truth.sum())
    f[:-1][ranked[1:] == ranked[:-1]] = -1  # equal scores are called together
    best = int(f.argmax())
    below = ranked[best + 1] if best + 1 < len(ranked) else 0.0
    return max(float((ranked[best] + below) / 2), least)

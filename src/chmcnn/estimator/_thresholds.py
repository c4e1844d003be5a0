"""Thresholds of the classes that keep predictions coherent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy


def tune_thresholds(Y: NDArray[np.bool_], scores: NDArray[np.floating], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return the threshold of each class with the best F1 on validation data, at or above those of its parents.

    If scores are coherent, predictions are too: a score that reaches the threshold of a child reaches that of its
    parents. A class without positive rows has the highest threshold of its parents, or 0.5 without parents.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("a", "b")])
    >>> Y = np.array([[1, 1], [1, 0], [0, 0]], dtype=bool)
    >>> tune_thresholds(Y, np.array([[0.9, 0.4], [0.8, 0.1], [0.3, 0.1]]), tree)
    array([0.55, 0.55])
    """
    thresholds = np.zeros(len(hierarchy))
    parents: list[list[int]] = [[] for _ in hierarchy.classes]
    for parent, child in hierarchy.edges.tolist():
        parents[child].append(parent)
    for column in np.argsort(hierarchy.depths, kind="stable").tolist():
        minimum = max((float(thresholds[parent]) for parent in parents[column]), default=0.0)
        thresholds[column] = _tune_one(Y[:, column], scores[:, column], minimum)
    return thresholds


def _tune_one(labels: NDArray[np.bool_], scores: NDArray[np.floating], minimum: float) -> float:
    """Return the middle between the lowest predicted score and the next one, but at least ``minimum``."""
    reached = scores >= minimum
    if not labels[reached].any():
        return minimum or 0.5
    order = np.argsort(-scores[reached], kind="stable")
    ranked, true_positives = scores[reached][order].astype(np.float64), np.cumsum(labels[reached][order])
    f1 = 2 * true_positives / (np.arange(1, len(ranked) + 1) + labels.sum())
    f1[:-1][ranked[1:] == ranked[:-1]] = -1  # equal scores are predicted together
    best = int(f1.argmax())
    below = ranked[best + 1] if best + 1 < len(ranked) else 0.0
    return max(float((ranked[best] + below) / 2), minimum)

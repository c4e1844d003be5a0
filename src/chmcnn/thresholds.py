"""Thresholds for each class that keep predictions coherent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy


def tune(Y: NDArray[np.bool_], scores: NDArray[np.floating], hierarchy: Hierarchy) -> NDArray[np.float64]:  # noqa: N803
    """The threshold of each class with the best F1 on validation data, lowered where a descendant needs it.

    A class without a positive row keeps 0.5. Scores must be coherent; then a prediction is too.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("a", "b")])
    >>> tune(np.array([[1, 1], [1, 0]], dtype=bool), np.array([[0.9, 0.4], [0.8, 0.1]]), tree)
    array([0.25, 0.25])
    """
    each = np.array([_best(Y[:, column], scores[:, column]) for column in range(Y.shape[1])])
    return coherent(each, hierarchy)


def coherent(thresholds: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Lower each threshold to the least of its descendants: what reaches a child's then reaches its parent's."""
    lowered = np.array(thresholds, dtype=np.float64)
    edges, sizes = hierarchy.bottom_up()
    for level in np.split(edges, np.cumsum(sizes)[:-1]):
        np.minimum.at(lowered, level[:, 0], lowered[level[:, 1]])
    return lowered


def _best(truth: NDArray[np.bool_], scores: NDArray[np.floating]) -> float:
    """Half-way between the lowest score that is still called and the next one below."""
    if not truth.any():
        return 0.5
    order = np.argsort(-scores, kind="stable")
    ranked, found = scores[order].astype(np.float64), np.cumsum(truth[order])
    f = 2 * found / (np.arange(1, len(ranked) + 1) + found[-1])
    f[:-1][ranked[1:] == ranked[:-1]] = -1  # equal scores are called together
    best = int(f.argmax())
    below = ranked[best + 1] if best + 1 < len(ranked) else 0.0
    return float((ranked[best] + below) / 2)

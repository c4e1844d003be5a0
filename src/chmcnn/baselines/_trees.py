"""Predictive clustering trees, made of scikit-learn's regression trees: targets, stopping and leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special
from sklearn.tree import DecisionTreeRegressor

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from chmcnn.hierarchy import Hierarchy

    Features = NDArray[np.float64] | sparse.csr_array


def class_weights(hierarchy: Hierarchy, evaluated: NDArray[np.bool_], factor: float) -> NDArray[np.float64]:
    """Roots weigh 1, any other class ``factor`` times the mean of its parents; classes that do not count weigh 0.

    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c"), ("a", "c")])
    >>> class_weights(hierarchy, np.ones(3, dtype=bool), 0.5)
    array([1.   , 0.5  , 0.375])
    """
    weights = np.ones(len(hierarchy))
    parents, children = hierarchy.edges.T
    for depth in range(1, hierarchy.depth + 1):
        here = hierarchy.depths[children] == depth
        totals = np.bincount(children[here], weights[parents[here]], len(hierarchy))
        counts = np.bincount(children[here], minlength=len(hierarchy))
        weights[counts > 0] = factor * totals[counts > 0] / counts[counts > 0]
    return weights * evaluated


def coordinates(y: NDArray[np.bool_], weights: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Coordinates (rows, components) of weighted label vectors on their principal components.

    Distances between rows, and with them sums of squares, are the same in any rotation: with ``share=1``, all of the
    variance, a tree grown on the coordinates is the tree grown on the labels. There are at most as many of them as
    rows, and with less of the variance far fewer than classes.
    """
    targets: NDArray[np.float64] = ((y - y.mean(axis=0)) * np.sqrt(weights))[:, weights > 0]
    wide = targets.shape[0] < targets.shape[1]
    if share == 1 and not wide:
        return targets  # there would be as many components
    sizes, vectors = np.linalg.eigh(targets @ targets.T if wide else targets.T @ targets)
    sizes = np.maximum(sizes[::-1], 0)  # (components,) from the largest on
    left = sizes.sum() - np.cumsum(sizes)
    kept = 1 + int((left > max(1 - share, 1e-12) * sizes.sum()).sum())
    vectors = vectors[:, ::-1][:, :kept]
    projected: NDArray[np.float64] = vectors * np.sqrt(sizes[:kept]) if wide else targets @ vectors
    return projected


@dataclass(frozen=True, slots=True)
class GrownTree:
    """A tree before any split is undone, with what decides which ones are."""

    grown: DecisionTreeRegressor
    means: NDArray[np.float32]  # (nodes, classes) share of the node's rows that have each class
    gains: NDArray[np.float64]  # (nodes,) by how much its split lowers the sum of squares
    p_values: NDArray[np.float64]  # (nodes,) of the F-test of its split; 1 for a leaf

    def pruned(self, significance: float) -> ClusteringTree:
        """Undo all splits that are not significant, and what is below them."""
        split, end = self._ends(significance)
        leaves = np.unique(end[~split])
        leaf = np.searchsorted(leaves, end)  # of no meaning for nodes that are split: no row ends there
        return ClusteringTree(self.grown, split, leaf, self.means[leaves], self.gains)

    def _ends(self, significance: float) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which nodes remain split, and the leaf that each node is or has become part of."""
        structure, end = self.grown.tree_, np.arange(len(self.p_values))
        split = self.p_values < significance
        for node in np.flatnonzero(structure.children_left >= 0):  # parents come before their children
            split[node] &= end[node] == node
            if not split[node]:
                end[structure.children_left[node]] = end[structure.children_right[node]] = end[node]
        return split, end


@dataclass(frozen=True, slots=True)
class ClusteringTree:
    """A predictive clustering tree: a leaf predicts the mean label vector of its rows."""

    grown: DecisionTreeRegressor
    split: NDArray[np.bool_]  # (nodes of grown,) whether the node is split here too
    leaf: NDArray[np.int64]  # (nodes of grown,) which leaf a node is, or is part of
    means: NDArray[np.float32]  # (leaves, classes)
    gains: NDArray[np.float64]  # (nodes of grown,)

    def apply(self, x: Features) -> NDArray[np.int64]:
        """The leaf of each row."""
        found: NDArray[np.int64] = self.leaf[self.grown.apply(x)]
        return found

    def predict(self, x: Features) -> NDArray[np.float32]:
        """Probabilities (rows, classes)."""
        return self.means[self.apply(x)]

    def importances(self) -> NDArray[np.float64]:
        """How much of the sum of squares the splits by each feature take away (features,); they sum to 1 or are 0."""
        features = self.grown.tree_.feature[self.split]
        gained = np.bincount(features, self.gains[self.split], self.grown.n_features_in_)
        return normalised(gained)


def grow(
    x: Features,
    y: NDArray[np.bool_],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    **options: Any,  # noqa: ANN401 -- of scikit-learn's tree
) -> GrownTree:
    """Grow a tree on the targets of the rows. Means and F-tests are of the labels themselves."""
    grown = DecisionTreeRegressor(**options).fit(x, targets)
    rows, left, right = (getattr(grown.tree_, name) for name in ("n_node_samples", "children_left", "children_right"))
    counts = grown.decision_path(x).T.astype(np.float32) @ y.astype(np.float32)
    means = counts / rows[:, None]
    squares = rows * ((means * (1 - means)) @ weights)  # about the mean, of labels that are 0 and 1
    within = squares[left] + squares[right]
    gains = np.where(left >= 0, np.maximum(squares - within, 0), 0)
    testable = (rows > 2) & (gains > 0)
    with np.errstate(divide="ignore", invalid="ignore"):  # two pure leaves have no variance within
        ratio = (rows - 2) * gains / within
    p_values = np.where(testable, special.fdtrc(1, np.maximum(rows - 2, 1), ratio), 1.0)
    return GrownTree(grown, means.astype(np.float32), gains, p_values)


def normalised(values: NDArray[Any]) -> NDArray[np.float64]:
    """Shares that sum to 1; zeros where all are."""
    shares: NDArray[np.float64] = values / (values.sum() or 1.0)
    return shares

"""Predictive clustering trees on top of scikit-learn's regression trees: targets, stopping and leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse
    from sklearn.tree import DecisionTreeRegressor

    from chmcnn.hierarchy import Hierarchy

    Features = NDArray[np.float64] | sparse.csr_array


def weigh_classes_by_depth(hierarchy: Hierarchy, evaluated: NDArray[np.bool_], factor: float) -> NDArray[np.float64]:
    """Return class weights: 1 for roots, else ``factor`` times the mean of the parents; 0 for classes not evaluated.

    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c"), ("a", "c")])
    >>> weigh_classes_by_depth(hierarchy, np.ones(3, dtype=bool), 0.5)
    array([1.   , 0.5  , 0.375])
    """
    weights = np.ones(len(hierarchy))
    parents, children = hierarchy.edges.T
    for depth in range(1, hierarchy.depth + 1):
        at_depth = hierarchy.depths[children] == depth
        totals = np.bincount(children[at_depth], weights[parents[at_depth]], len(hierarchy))
        counts = np.bincount(children[at_depth], minlength=len(hierarchy))
        weights[counts > 0] = factor * totals[counts > 0] / counts[counts > 0]
    return weights * evaluated


def project_labels(y: NDArray[np.bool_], weights: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Project weighted label vectors onto the principal components that explain a share of their variance.

    A rotation changes neither distances between rows nor sums of squares: with ``share=1``, a tree grown on the
    components (rows, components) is the tree grown on the labels. There are at most as many components as rows, and for
    a smaller share far fewer than classes.
    """
    targets: NDArray[np.float64] = ((y - y.mean(axis=0)) * np.sqrt(weights))[:, weights > 0]
    wide = targets.shape[0] < targets.shape[1]
    if share == 1 and not wide:
        return targets  # there are as many components as classes
    variances, vectors = np.linalg.eigh(targets @ targets.T if wide else targets.T @ targets)
    variances = np.maximum(variances[::-1], 0)  # (components,), the largest first
    unexplained = variances.sum() - np.cumsum(variances)
    components = 1 + int((unexplained > max(1 - share, 1e-12) * variances.sum()).sum())
    vectors = vectors[:, ::-1][:, :components]
    projected: NDArray[np.float64] = vectors * np.sqrt(variances[:components]) if wide else targets @ vectors
    return projected


@dataclass(frozen=True, slots=True)
class UnprunedTree:
    """A tree before pruning, with the tests of its splits."""

    regressor: DecisionTreeRegressor
    means: NDArray[np.float32]  # (nodes, classes) share of the rows of the node with each class
    gains: NDArray[np.float64]  # (nodes,) reduction of the sum of squares by the split
    p_values: NDArray[np.float64]  # (nodes,) p-value of the F-test of the split; 1 for a leaf

    def prune(self, significance: float) -> ClusteringTree:
        """Remove all splits that are not significant, and those below them."""
        split, end = self._find_leaves(significance)
        leaves = np.unique(end[~split])
        leaf = np.searchsorted(leaves, end)  # without meaning for nodes that are split: no row ends there
        return ClusteringTree(self.regressor, split, leaf, self.means[leaves], self.gains)

    def _find_leaves(self, significance: float) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return which nodes remain split, and the leaf that each node is or belongs to."""
        structure, end = self.regressor.tree_, np.arange(len(self.p_values))
        split = self.p_values < significance
        for node in np.flatnonzero(structure.children_left >= 0):  # parents come before their children
            split[node] &= end[node] == node
            if not split[node]:
                end[structure.children_left[node]] = end[structure.children_right[node]] = end[node]
        return split, end


@dataclass(frozen=True, slots=True)
class ClusteringTree:
    """A predictive clustering tree: a leaf predicts the mean label vector of its rows."""

    regressor: DecisionTreeRegressor
    split: NDArray[np.bool_]  # (nodes before pruning,) whether the node is split
    leaf: NDArray[np.int64]  # (nodes before pruning,) the leaf that a node is or belongs to
    means: NDArray[np.float32]  # (leaves, classes)
    gains: NDArray[np.float64]  # (nodes before pruning,)

    def apply(self, x: Features) -> NDArray[np.int64]:
        """Return the leaf of each row."""
        leaves: NDArray[np.int64] = self.leaf[self.regressor.apply(x)]
        return leaves

    def predict(self, x: Features) -> NDArray[np.float32]:
        """Return probabilities (rows, classes)."""
        return self.means[self.apply(x)]

    def compute_importances(self) -> NDArray[np.float64]:
        """Return the share of each feature in the reduction of the sum of squares; all 0 without a split."""
        features = self.regressor.tree_.feature[self.split]
        return normalise(np.bincount(features, self.gains[self.split], self.regressor.n_features_in_))


def grow(
    regressor: DecisionTreeRegressor,
    x: Features,
    y: NDArray[np.bool_],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> UnprunedTree:
    """Fit a regression tree to the targets of the rows. Means and F-tests use the labels themselves."""
    structure = regressor.fit(x, targets).tree_
    rows, left, right = structure.n_node_samples, structure.children_left, structure.children_right
    counts = regressor.decision_path(x).T.astype(np.float32) @ y.astype(np.float32)
    means = counts / rows[:, None]
    gains, p_values = assess_splits(rows, left, right, means, weights)
    return UnprunedTree(regressor, means.astype(np.float32), gains, p_values)


def assess_splits(
    rows: NDArray[Any],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    means: NDArray[np.floating],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by how much each split reduces the sum of squares, and the p-value of its F-test; 0 and 1 for a leaf.

    Nodes have a number of rows, children (negative for a leaf) and mean label vectors (nodes, classes).
    """
    squares = rows * ((means * (1 - means)) @ weights)  # about the mean, of labels that are 0 and 1
    within = squares[left] + squares[right]
    gains = np.where(left >= 0, np.maximum(squares - within, 0), 0)
    testable = (rows > 2) & (gains > 0)
    with np.errstate(divide="ignore", invalid="ignore"):  # there is no variance within two pure leaves
        ratio = (rows - 2) * gains / within
    return gains, np.where(testable, special.fdtrc(1, np.maximum(rows - 2, 1), ratio), 1.0)


def normalise(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return values divided by their sum; zeros stay zeros."""
    shares: NDArray[np.float64] = values / (values.sum() or 1.0)
    return shares

"""Trees that send a row with a missing value down both branches, in the shares of the rows with a known one.

Clus does so; scikit-learn's trees send it down one branch. `benchmarks.missing` compares both with the package.
"""

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from chmcnn.baselines._trees import assess_splits

LEAST = 5
"""Least weight of a leaf, as in the package."""
_TINY = 1e-9
"""Weights and sums of squares that differ by less are equal: parts of rows do not add up exactly."""
_vectorised = numba.njit(cache=True, fastmath={"reassoc", "contract", "nsz"})  # no other: missing values are NaN


@_vectorised
def _add(total: NDArray[np.float64], target: NDArray[np.float64], weight: float) -> None:
    """Add a row to a sum, in place."""
    for k in range(len(total)):
        total[k] += weight * target[k]


@_vectorised
def _move(
    left: NDArray[np.float64], total: NDArray[np.float64], target: NDArray[np.float64], weight: float
) -> tuple[float, float]:
    """Add a row to the left sum in place; return the squares of the lengths of the left and of the right sum."""
    square_left = square_right = 0.0
    for k in range(len(left)):
        value = left[k] + weight * target[k]
        left[k] = value
        rest = total[k] - value
        square_left += value * value
        square_right += rest * rest
    return square_left, square_right


@numba.njit(cache=True)
def find_split(
    x: NDArray[np.float32],
    order: NDArray[np.int64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    least: float,
) -> tuple[int, int]:
    """Return the column of the best split, or -1, and the position of its last row on the left in the order of values.

    It reduces the sum of squares of the rows that have the value most, and leaves a least weight of them on both sides.

    Parameters
    ----------
    x, order
        Values (columns, rows), and the rows in their order for each column (columns, rows), missing values last.
    targets, weights
        Targets (rows, components) and weights of the rows.
    """
    columns, rows = x.shape
    gain, found = _TINY, (-1, 0)
    whole = np.zeros(targets.shape[1])
    total, left = np.empty_like(whole), np.empty_like(whole)
    for i in range(rows):
        _add(whole, targets[i], weights[i])
    for column in range(columns):
        values, by_value = x[column], order[column]
        known, weight = rows, weights.sum()
        total[:], left[:] = whole, 0.0
        while known > 0 and np.isnan(values[by_value[known - 1]]):
            known -= 1
            i = by_value[known]
            weight -= weights[i]
            _add(total, targets[i], -weights[i])
        if weight < 2 * least:
            continue
        unsplit = (total * total).sum() / weight
        weight_left = 0.0
        for position in range(known - 1):
            i = by_value[position]
            weight_left += weights[i]
            weight_right = weight - weight_left
            if weight_right < least:
                break
            square_left, square_right = _move(left, total, targets[i], weights[i])
            if weight_left >= least and values[i] < values[by_value[position + 1]]:
                reduction = square_left / weight_left + square_right / weight_right - unsplit
                if reduction > gain:
                    gain, found = reduction, (column, position)
    return found


@dataclass(frozen=True, slots=True)
class Structure:
    """The nodes of a tree; parents come before their children."""

    features: NDArray[np.int64]  # (nodes,) column of the split; -1 in a leaf
    thresholds: NDArray[np.float64]  # (nodes,) largest value that goes to the left
    shares: NDArray[np.float64]  # (nodes,) share of a row with a missing value that goes to the left
    left: NDArray[np.int64]  # (nodes,) left child, after which the right one comes; -1 in a leaf
    weights: NDArray[np.float64]  # (nodes,) number of training rows; one with a missing value counts in part

    def follow(self, x: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the share (nodes, rows) of each row in each node."""
        reached = np.zeros((len(self.left), len(x)))
        reached[0] = 1
        for node in np.flatnonzero(self.left >= 0):
            values = x[:, self.features[node]]
            to_left = np.where(np.isnan(values), self.shares[node], values <= self.thresholds[node])
            reached[self.left[node]] = reached[node] * to_left
            reached[self.left[node] + 1] = reached[node] * (1 - to_left)
        return reached

    def find_leaves(self, split: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the leaves, if only some nodes remain split."""
        leaves, open_nodes = [], [0]
        while open_nodes:
            node = open_nodes.pop()
            if split[node]:
                open_nodes += [self.left[node], self.left[node] + 1]
            else:
                leaves.append(node)
        return np.array(leaves)


def grow_structure(
    x: NDArray[np.float32], targets: NDArray[np.float64], weights: NDArray[np.float64], least: int, seed: int = 0
) -> Structure:
    """Grow a tree until no split leaves a least weight on both sides; the seed decides between equally good splits."""
    columns = np.random.default_rng(seed).permutation(x.shape[1])
    by_column = np.ascontiguousarray(x.T[columns])
    nodes = [(np.arange(len(x)), weights)]
    splits: list[tuple[int, float, float, int]] = []
    for rows, parts in nodes:  # grows on the way
        values = by_column.take(rows, axis=1)
        order = np.argsort(values)
        column, position = find_split(values, order, targets[rows], parts, least - _TINY)
        if column < 0:
            splits.append((-1, 0.0, 1.0, -1))
            continue
        threshold = values[column, order[column, position : position + 2]].astype(np.float64).mean()
        is_missing, goes_left = np.isnan(values[column]), values[column] <= threshold
        share = parts[goes_left].sum() / parts[~is_missing].sum()
        splits.append((columns[column], threshold, share, len(nodes)))
        for goes, part in ((goes_left, share), (~goes_left, 1 - share)):
            chosen = goes | is_missing
            nodes.append((rows[chosen], np.where(is_missing, part * parts, parts)[chosen]))
    features, thresholds, shares, left = map(np.array, zip(*splits, strict=True))
    return Structure(features, thresholds, shares, left, np.array([parts.sum() for _, parts in nodes]))


@dataclass(frozen=True, slots=True)
class BothWays:
    """A clustering tree before pruning: a node predicts the mean label vector of its rows."""

    structure: Structure
    means: NDArray[np.float64]  # (nodes, classes)
    p_values: NDArray[np.float64]  # (nodes,) p-value of the F-test of the split; 1 for a leaf

    def predict(self, x: NDArray[np.float32], levels: tuple[float, ...]) -> NDArray[np.float32]:
        """Return probabilities (levels, rows, classes) of the tree that each level leaves."""
        reached = self.structure.follow(x)
        leaves = [self.structure.find_leaves(self.p_values < level) for level in levels]
        return np.stack([reached[each].T @ self.means[each] for each in leaves]).astype(np.float32)


def grow(
    x: NDArray[np.float32],
    y: NDArray[np.bool_],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    class_weights: NDArray[np.float64],
    seed: int,
) -> BothWays:
    """Grow a tree on rows with weights, as the package grows one on rows that are repeated."""
    structure = grow_structure(x, targets, weights, LEAST, seed)
    totals = (structure.follow(x) * weights) @ y.astype(np.float64)
    means = totals / structure.weights[:, None]
    _, p_values = assess_splits(structure.weights, structure.left, structure.left + 1, means, class_weights)
    return BothWays(structure, means, p_values)

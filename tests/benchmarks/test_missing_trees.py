"""Trees that send a row with a missing value down both branches, compared with their definition, taken literally.

The loops are not compiled here: that takes far longer than to run them on so few rows.
"""

from typing import Any

import numpy as np
import pytest
from benchmarks import missing_trees
from benchmarks.missing_trees import Structure, grow, grow_structure
from sklearn.tree import DecisionTreeRegressor

from chmcnn.baselines import _trees


@pytest.fixture(autouse=True)
def plain_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("find_split", "_add", "_move"):
        monkeypatch.setattr(missing_trees, name, getattr(missing_trees, name).py_func)


def draw(seed: int, rows: int = 60) -> tuple[Any, Any, Any]:
    """Return values, of which a fifth is missing and some are equal, targets and weights."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 5)).round(1).astype(np.float32)
    targets = rng.normal(size=(rows, 3)) + x[:, :1]
    x[rng.random(x.shape) < 0.2] = np.nan
    return x, targets, rng.integers(1, 4, size=rows).astype(np.float64)


def sum_squares(targets: Any, weights: Any) -> float:
    mean = np.average(targets, axis=0, weights=weights)
    return float((weights * np.square(targets - mean).sum(axis=1)).sum())


def grow_literally(x: Any, targets: Any, weights: Any, least: float) -> dict[str, Any] | None:
    """Try each threshold of each column, on the rows that have a value; None for a leaf."""
    best: tuple[float, dict[str, Any]] | None = None
    for column in range(x.shape[1]):
        known = ~np.isnan(x[:, column])
        values = np.unique(x[known, column]).astype(np.float64)
        for threshold in (values[1:] + values[:-1]) / 2:
            sides = [known & (x[:, column] <= threshold), known & (x[:, column] > threshold)]
            if min(weights[side].sum() for side in sides) >= least:
                after = sum(sum_squares(targets[side], weights[side]) for side in sides)
                gain = sum_squares(targets[known], weights[known]) - after
                if best is None or gain > best[0]:
                    share = weights[sides[0]].sum() / weights[known].sum()
                    best = gain, {"feature": column, "threshold": threshold, "share": share, "sides": sides}
    if best is None:
        return None
    node = best[1]
    missing = np.isnan(x[:, node["feature"]])
    node["below"] = []
    for side, share in zip(node.pop("sides"), (node["share"], 1 - node["share"]), strict=True):
        parts = weights * np.where(missing, share, side)
        node["below"].append(grow_literally(x[parts > 0], targets[parts > 0], parts[parts > 0], least))
    return node


def compare(structure: Structure, at: int, node: dict[str, Any] | None) -> int:
    """Check that a node and all below it are those of the definition; return their number."""
    left = int(structure.left[at])
    assert (left >= 0) == (node is not None)
    if node is None:
        return 1
    assert structure.features[at] == node["feature"]
    assert structure.thresholds[at] == node["threshold"]
    assert structure.shares[at] == pytest.approx(node["share"])
    return 1 + sum(compare(structure, *pair) for pair in zip((left, left + 1), node["below"], strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_is_that_of_the_definition(seed: int) -> None:
    x, targets, weights = draw(seed)
    structure = grow_structure(x, targets, weights, 4, seed)
    assert compare(structure, 0, grow_literally(x, targets, weights, 4)) == len(structure.weights) > 10


def test_rows_reach_nodes_with_the_weights_that_they_had_while_the_tree_grew() -> None:
    x, targets, weights = draw(2)
    structure = grow_structure(x, targets, weights, 4)
    reached = structure.follow(x)
    assert np.allclose(reached @ weights, structure.weights)
    ends = reached[structure.find_leaves(structure.left >= 0)]
    assert np.allclose(ends.sum(axis=0), 1)
    assert ((ends > 0).sum(axis=0) > 1).any()


def test_without_missing_values_predictions_are_those_of_the_package() -> None:
    x, _, _ = draw(1)
    x = np.nan_to_num(x)
    y = np.stack([x[:, 0] > 0, x[:, 1] > 0.5], axis=1)
    ours = grow(x, y, y.astype(float), np.ones(60), np.ones(2), seed=0)
    theirs = _trees.grow(DecisionTreeRegressor(min_samples_leaf=5), x, y, y.astype(float), np.ones(2)).prune(0.01)
    assert len(theirs.means) > 2
    assert np.allclose(ours.predict(x, (0.01,))[0], theirs.predict(x))


def test_a_row_with_a_missing_value_gets_the_mean_of_both_branches_by_hand() -> None:
    x = np.array([[1]] * 18 + [[2]] * 6 + [[np.nan]] * 6, dtype=np.float32)
    y = np.array([[1]] * 18 + [[0]] * 6 + [[1], [0]] * 3, dtype=bool)
    tree = grow(x, y, y.astype(float), np.ones(30), np.ones(1), seed=0)
    # 18 of the 24 rows with a value go to the left, so 3/4 of each of the others do, and 1/4 goes to the right
    left, right = (18 + 3 * 3 / 4) / (18 + 6 * 3 / 4), (3 / 4) / (6 + 6 / 4)
    new = np.array([[0], [3], [np.nan]], dtype=np.float32)
    assert tree.predict(new, (0.05,))[0, :, 0].tolist() == pytest.approx([left, right, 3 / 4 * left + 1 / 4 * right])

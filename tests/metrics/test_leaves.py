"""One answer per row: is it right, and how far off is it?"""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from chmcnn import Hierarchy, ScoreError
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.metrics import leaf_accuracy, mistake_severity

TREE = Hierarchy.from_paths(["a/b/c", "a/b/d", "a/e/f", "g/h/i"])
LEAVES = ["a/b/c", "a/b/d", "a/e/f", "g/h/i"]


def answer(*names: str) -> Any:
    """Scores whose best leaf is the first name."""
    scores = TREE.encode([{name} for name in names]).astype(float)
    return scores + 0.01 * np.random.default_rng(0).random(scores.shape)


def truth(*label_sets: set[str]) -> Any:
    return TREE.encode(label_sets)


@pytest.mark.parametrize(("said", "severity"), [("a/b/d", 1), ("a/e/f", 2), ("g/h/i", 3)])
def test_the_severity_is_the_height_of_the_lowest_common_ancestor(said: str, severity: int) -> None:
    assert mistake_severity(truth({"a/b/c"}), answer(said), TREE) == severity
    assert leaf_accuracy(truth({"a/b/c"}), answer(said), TREE) == 0


def test_right_answers_count_only_in_the_mean_over_all_rows() -> None:
    Y, scores = truth({"a/b/c"}, {"a/b/c"}, {"g/h/i"}), answer("a/b/c", "a/e/f", "g/h/i")
    assert leaf_accuracy(Y, scores, TREE) == pytest.approx(2 / 3)
    assert mistake_severity(Y, scores, TREE) == 2
    assert mistake_severity(Y, scores, TREE, rows="all") == pytest.approx(2 / 3)
    assert mistake_severity(Y[:1], scores[:1], TREE) == 0


def test_of_several_true_leaves_any_is_right_and_the_nearest_counts() -> None:
    Y = truth({"a/b/c", "g/h/i"})
    assert leaf_accuracy(Y, answer("g/h/i"), TREE) == 1
    assert mistake_severity(Y, answer("a/e/f"), TREE) == 2
    assert mistake_severity(Y, answer("a/b/d"), TREE) == 1


def test_rows_without_a_true_leaf_do_not_count() -> None:
    Y, scores = truth({"a/b"}, {"a/b/c"}, set()), answer("g/h/i", "a/b/c", "a/b/c")
    assert leaf_accuracy(Y, scores, TREE) == 1
    assert np.isnan(leaf_accuracy(Y[:1], scores[:1], TREE))
    assert np.isnan(mistake_severity(Y[:1], scores[:1], TREE))


def test_with_one_leaf_per_row_it_is_the_accuracy_of_scikit_learn() -> None:
    random = np.random.default_rng(1)
    chosen, scores = random.integers(0, 4, 50), random.random((50, len(TREE)))
    Y = truth(*({LEAVES[at]} for at in chosen))
    columns = [TREE.index(name) for name in LEAVES]
    assert leaf_accuracy(Y, scores, TREE) == accuracy_score(chosen, scores[:, columns].argmax(axis=1))


@pytest.mark.parametrize("seed", range(3))
def test_in_a_dag_the_nearest_common_ancestor_counts(seed: int) -> None:
    hierarchy = random_hierarchy(40, edges=60, depth=5, seed=seed)
    random = np.random.default_rng(seed)
    leaves = [hierarchy.index(name) for name in hierarchy.leaves]
    up = hierarchy.to_networkx().reverse()
    up.add_edges_from((root, "above all") for root in hierarchy.roots)
    for _ in range(20):
        true, said = random.choice(leaves, 2, replace=False)
        ways = nx.single_source_shortest_path_length(up, hierarchy.classes[true])
        others = nx.single_source_shortest_path_length(up, hierarchy.classes[said])
        expected = min(ways[name] for name in ways if name in others)
        Y = hierarchy.close(np.eye(len(hierarchy))[[true]])
        assert mistake_severity(Y, np.eye(len(hierarchy))[[said]], hierarchy) == expected


def test_classes_restrict_answers_and_truth() -> None:
    classes = [TREE.index("a/b/c"), TREE.index("a/b/d")]
    Y, scores = truth({"a/b/c"}, {"g/h/i"}), answer("g/h/i", "g/h/i")
    scores[0, TREE.index("a/b/d")] = 0.5
    assert leaf_accuracy(Y, scores, TREE, classes=classes) == 0
    assert mistake_severity(Y, scores, TREE, classes=classes) == 1


def test_bad_input_is_told() -> None:
    with pytest.raises(ScoreError, match="None of the selected classes is a leaf"):
        leaf_accuracy(truth({"a"}), answer("a"), TREE, classes=[TREE.index("a")])
    with pytest.raises(ScoreError, match=r"Labels have shape \(1, 2\), but the hierarchy has 9 classes"):
        leaf_accuracy([[0, 1]], [[0, 1]], TREE)
    with pytest.raises(ScoreError, match="rows is 'some'; expected 'mistakes' or 'all'"):
        mistake_severity(truth({"a"}), answer("a"), TREE, rows="some")  # type: ignore[arg-type]

import numpy as np
import pytest
from sklearn.metrics import f1_score

from chmcnn import Hierarchy
from chmcnn.thresholds import coherent, tune


def test_the_best_f1_of_each_class_is_found() -> None:
    random = np.random.default_rng(0)
    truth = random.random((200, 5)) < 0.3
    scores = (random.random((200, 5)) * 0.7 + truth * 0.3).round(2)
    apart = Hierarchy([f"c{number}" for number in range(5)], [])
    found = tune(truth, scores, apart)
    for column in range(5):
        ours = f1_score(truth[:, column], scores[:, column] >= found[column])
        others = [f1_score(truth[:, column], scores[:, column] >= value) for value in np.unique(scores[:, column])]
        assert ours == pytest.approx(max(others))


def test_a_class_without_rows_keeps_one_half() -> None:
    assert tune(np.zeros((3, 1), dtype=bool), np.full((3, 1), 0.2), Hierarchy(["a"], [])).tolist() == [0.5]


def test_parents_are_lowered_to_their_descendants() -> None:
    tree = Hierarchy.from_paths(["a/b/c", "a/d"])
    assert coherent(np.array([0.9, 0.5, 0.3, 0.4]), tree).tolist() == [0.3, 0.3, 0.3, 0.4]

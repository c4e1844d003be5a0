from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score
from tests.estimator.models import DATA, QUICK, fitted

from chmcnn import CHMCNNClassifier, ChmcnnError, Hierarchy
from chmcnn.datasets.synthetic import learnable, random_hierarchy
from chmcnn.estimator._thresholds import tune_thresholds


def test_the_best_f1_of_each_class_is_found() -> None:
    random = np.random.default_rng(0)
    truth = random.random((200, 5)) < 0.3
    scores = (random.random((200, 5)) * 0.7 + truth * 0.3).round(2)
    apart = Hierarchy([f"c{number}" for number in range(5)], [])
    found = tune_thresholds(truth, scores, apart)
    for column in range(5):
        ours = f1_score(truth[:, column], scores[:, column] >= found[column])
        others = [f1_score(truth[:, column], scores[:, column] >= value) for value in np.unique(scores[:, column])]
        assert ours == pytest.approx(max(others))


def test_a_class_without_rows_keeps_one_half_or_its_parents() -> None:
    assert tune_thresholds(np.zeros((3, 1), dtype=bool), np.full((3, 1), 0.2), Hierarchy(["a"], [])).tolist() == [0.5]
    tree = Hierarchy.from_edges([("a", "b")])
    truth = np.array([[1, 0], [1, 0], [0, 0]], dtype=bool)
    assert tune_thresholds(truth, np.array([[0.9, 0.1], [0.4, 0.3], [0.2, 0.1]]), tree) == pytest.approx([0.3, 0.3])


def test_no_child_has_a_lower_threshold_than_its_parents() -> None:
    hierarchy = random_hierarchy(40, edges=60, depth=4)
    random = np.random.default_rng(1)
    truth = hierarchy.close(random.random((100, 40)) < 0.05)
    scores = np.minimum(random.random((100, 1)) + truth * 0.2, 1) * np.ones((1, 40))
    found = tune_thresholds(truth, scores, hierarchy)
    parent, child = hierarchy.edges.T
    assert (found[child] >= found[parent]).all()


def test_tuned_thresholds_are_coherent_and_better_on_what_they_were_tuned_on() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK, threshold="tune", refit=False)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))
    parent, child = DATA.hierarchy.edges.T
    assert (model.thresholds_[parent] <= model.thresholds_[child]).all()
    assert len(DATA.hierarchy.violations(model.predict(DATA.test.X))) == 0
    assert model.predict(DATA.valid.X).sum() > 0
    with pytest.raises(ChmcnnError, match="threshold='tune' needs validation rows"):
        fitted(threshold="tune", validation=0)


def test_thresholds_are_tuned_with_a_network_that_has_not_seen_the_rows() -> None:
    data = learnable(rows=600, features=10, classes=30, depth=4, noise=1.0)
    options: dict[str, Any] = {"widths": (64,), "random_state": 0, "epochs": 30}
    tuned = CHMCNNClassifier(data.hierarchy, **options, threshold="tune")
    kept = CHMCNNClassifier(data.hierarchy, **options, threshold="tune", refit=False)
    for model in (tuned, kept):
        model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    assert np.array_equal(tuned.thresholds_, kept.thresholds_)

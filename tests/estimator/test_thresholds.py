from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score
from tests.estimator.models import DATA, QUICK, fitted

from chmcnn import CHMCNNClassifier, ChmcnnError, Hierarchy, ScoreError, metrics
from chmcnn.constraint import max_constraint
from chmcnn.datasets.synthetic import learnable, random_hierarchy
from chmcnn.errors import ModelError
from chmcnn.estimator._model_files import _restore_thresholds
from chmcnn.estimator._thresholds import tune, tune_single_threshold, tune_thresholds


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


def test_a_class_that_does_not_count_has_the_lowest_threshold_below_it() -> None:
    tree = Hierarchy.from_edges([("root", "a"), ("root", "b"), ("a", "c"), ("c", "d")])
    counted = np.array([name in {"a", "b"} for name in tree])
    truth = tree.encode([{"a"}, {"b"}, {"d"}])
    scores = np.array([[0.8, 0.1, 0, 0, 0.8], [0.2, 0.4, 0, 0, 0.4], [0.6, 0.1, 0, 0, 0.6]])
    found = dict(zip(tree, tune_thresholds(truth, scores, tree, counted).tolist(), strict=True))
    assert found == pytest.approx({"a": 0.4, "b": 0.25, "c": 0.4, "d": 0.4, "root": 0.25})


def best_by_trying(measure: Any, truth: np.ndarray, scores: np.ndarray) -> float:
    return max(float(measure(truth, scores >= threshold)) for threshold in np.arange(1, 1000) / 1000)


def test_one_threshold_for_all_is_the_best_of_all_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    truth = random.random((50, 12)) < 0.2
    truth[:5] = False
    scores = (random.random((50, 12)) * 0.6 + truth * 0.4).astype(np.float32)
    counted = np.arange(12) > 1
    monkeypatch.setattr("chmcnn.metrics._inputs._CELLS_AT_ONCE", 7000)  # several blocks
    found = tune_single_threshold(truth, scores, counted)
    at = found["hierarchical_f"]
    ours = metrics.hierarchical(truth, scores >= at, classes=counted).f
    assert ours == pytest.approx(
        best_by_trying(lambda *both: metrics.hierarchical(*both, classes=counted).f, truth, scores)
    )
    best = metrics.fmax(truth, scores, classes=counted, steps=1000)
    cut = np.where(scores >= found["fmax"], 1.0, 0.0)
    assert metrics.fmax(truth, cut, classes=counted).value == pytest.approx(best.value)
    assert tune_single_threshold(np.zeros((2, 12), dtype=bool), scores[:2], counted) == {
        "hierarchical_f": 0.5,
        "fmax": 0.5,
    }


def test_blocks_and_sparse_labels_have_the_same_thresholds() -> None:
    hierarchy = random_hierarchy(30, edges=40, depth=4)
    random = np.random.default_rng(2)
    truth = hierarchy.close(random.random((90, 30)) < 0.05)
    raw = torch.tensor((random.random((90, 30)) * 0.7 + truth * 0.2).round(2), dtype=torch.float32)
    scores = max_constraint(raw, hierarchy).numpy()
    counted = np.arange(30) != 3
    whole = tune(truth, scores, hierarchy, counted)
    blocks = tune(sparse.csr_array(truth), lambda: iter(np.split(scores, [1, 40, 40])), hierarchy, counted)
    assert all(np.array_equal(whole[name], blocks[name]) for name in ("tune", "hierarchical_f", "fmax"))
    with pytest.raises(ScoreError, match="can be read only once"):
        tune_thresholds(truth, iter([scores]), hierarchy)


def test_sparse_predictions_are_the_dense_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted()
    expected = model.predict(DATA.test.X, threshold=0.3)
    monkeypatch.setattr("chmcnn.estimator._predicting._CELLS_AT_ONCE", 40)  # several blocks
    found = model.predict(DATA.test.X, threshold=0.3, sparse_output=True)
    assert isinstance(found, sparse.csr_array)
    assert (found.dtype, found.nnz) == (expected.dtype, expected.sum())
    assert np.array_equal(found.toarray(), expected)
    blocks = list(model.iterate_scores(DATA.test.X))
    assert len(blocks) > 1
    raw, scores = (np.concatenate(part) for part in zip(*blocks, strict=True))
    np.testing.assert_allclose(raw, model.uncorrected_proba(DATA.test.X), rtol=1e-5)
    assert np.array_equal(scores, model.correct(torch.from_numpy(raw)).numpy())


def test_a_threshold_changes_after_training_and_is_saved(tmp_path: Path) -> None:
    model = fitted()
    X = DATA.test.X
    assert set(model.tuned_thresholds_) == {"tune", "hierarchical_f", "fmax"}
    options: dict[Any, Any] = {0.3: 0.3, **model.tuned_thresholds_}
    for threshold, values in options.items():
        expected = model.predict_proba(X) >= values
        assert np.array_equal(model.predict(X, threshold=threshold), expected)
        assert model.predict_labels(X, threshold=threshold) == DATA.hierarchy.decode(expected)
        assert [len(row) for row in model.explain(X, threshold=threshold)] == expected.sum(axis=1).tolist()
        model.set_params(threshold=threshold)
        assert np.array_equal(model.predict(X), expected)
        model.save(tmp_path / "model", force=True)
        loaded = CHMCNNClassifier.load(tmp_path / "model")
        assert np.array_equal(loaded.predict(X), expected)
        assert np.array_equal(loaded.set_params(threshold=0.9).predict(X), model.predict(X, threshold=0.9))


def test_a_threshold_that_was_never_tuned_is_told() -> None:
    model = fitted(validation=0)
    with pytest.raises(ChmcnnError, match="threshold is 'fmax', but the model has no thresholds tuned"):
        model.predict(DATA.test.X, threshold="fmax")
    model.set_params(threshold="tune")
    with pytest.raises(ChmcnnError, match="use a number, or train with validation rows and threshold='tune'"):
        model.predict_labels(DATA.test.X)
    with pytest.raises(ChmcnnError, match="threshold is 2; expected a number from 0 to 1"):
        model.explain(DATA.test.X, threshold=2)
    with pytest.raises(ChmcnnError, match="threshold='hierarchical_f' needs validation rows"):
        fitted(validation=0, threshold="hierarchical_f")
    with pytest.raises(NotFittedError):
        CHMCNNClassifier(DATA.hierarchy).predict_labels(DATA.test.X)
    assert not hasattr(CHMCNNClassifier(DATA.hierarchy), "thresholds_")


def test_thresholds_of_an_older_model_file_are_those_of_its_parameter() -> None:
    values = torch.linspace(0, 1, len(DATA.hierarchy), dtype=torch.float64)
    assert _restore_thresholds(fitted(epochs=1), {"thresholds": values}) == {}
    restored = _restore_thresholds(fitted(epochs=1, threshold="tune"), {"thresholds": values})
    assert np.array_equal(restored["tune"], values.numpy())
    with pytest.raises(ModelError, match=r"thresholds fmax have shape \(2,\); expected 15"):
        _restore_thresholds(fitted(epochs=1), {"thresholds.fmax": values[:2]})

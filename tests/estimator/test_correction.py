"""Classes that do not count, from training to every way to predict."""

from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks import shapes
from tests.estimator.models import DATA, fitted

from chmcnn import CHMCNNClassifier, Hierarchy, datasets
from chmcnn.constraint import max_constraint

ROOT = DATA.hierarchy.depths == 0


def test_all_classes_of_ones_own_data_count_whatever_their_names() -> None:
    tree = Hierarchy.from_edges([("root", "a"), ("GO:0008150", "b")])
    model = CHMCNNClassifier(tree, epochs=40, widths=(8,), dropout=0.0, learning_rate=0.05, random_state=0)
    model.fit([[0.0], [1.0]] * 20, [{"a"}, {"b"}] * 20)
    assert model.evaluated_.all()
    assert model.predict_labels([[0.0], [1.0]]) == [{"root", "a"}, {"GO:0008150", "b"}]


def test_the_score_of_a_root_that_does_not_count_is_that_of_its_best_descendant(tmp_path: Path) -> None:
    model = fitted(evaluated=~ROOT)
    scores = model.predict_proba(DATA.test.X)
    assert np.array_equal(scores[:, ROOT][:, 0], scores[:, ~ROOT].max(axis=1))
    for row in model.explain(DATA.test.X):
        assert not [reason for reason in row.reasons if ROOT[DATA.hierarchy.index(reason.delegate)]]
    model.save(tmp_path / "model")
    assert np.array_equal(CHMCNNClassifier.load(tmp_path / "model").predict_proba(DATA.test.X), scores)


def test_a_class_that_does_not_count_is_delegated_to_neither_in_training_nor_in_prediction() -> None:
    inner = DATA.hierarchy.depths == 1
    model = fitted(evaluated=~inner, epochs=1, validation=0, weight_decay=0.0)
    start = CHMCNNClassifier(**{**model.get_params(), "learning_rate": 1e-30})
    start.fit(DATA.train.X, DATA.train.Y)
    trained, untrained = (one.network_.state_dict() for one in (model, start))
    same = [torch.equal(a, b) for a, b in zip(trained["4.weight"], untrained["4.weight"], strict=True)]
    assert np.array_equal(same, inner)  # only the outputs of the classes that do not count have learned nothing
    raw = model.uncorrected_proba(DATA.test.X)
    raw[:, inner] = 1
    assert np.array_equal(model.correct(torch.from_numpy(raw)).numpy(), model.predict_proba(DATA.test.X))


@pytest.mark.skipif(not shapes.data_folder().is_dir(), reason="the files of the benchmark are not there")
def test_the_benchmark_leaves_its_roots_out_and_nothing_else_changes() -> None:
    data = datasets.load("cellcycle_FUN", data_dir=shapes.data_folder(), quiet=True)
    assert [name for name, counts in zip(data.hierarchy, data.evaluated, strict=True) if not counts] == ["root"]
    model = CHMCNNClassifier(data.hierarchy, evaluated=data.evaluated, epochs=1, widths=(8,), random_state=0)
    model.fit(data.train.X[:200], data.train.Y[:200], validation_data=(data.valid.X, data.valid.Y))
    rows = data.test.X[:50]
    papers = max_constraint(torch.from_numpy(model.uncorrected_proba(rows)), data.hierarchy).numpy()
    assert np.array_equal(model.predict_proba(rows)[:, data.evaluated], papers[:, data.evaluated])

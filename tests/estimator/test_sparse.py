"""Sparse features, from the matrix to the first layer."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from chmcnn import CHMCNNClassifier
from chmcnn.baselines import FPlusMax, system
from chmcnn.datasets.synthetic import learnable
from chmcnn.nn import MLP, SparseMLP
from chmcnn.training import Epoch

DATA = learnable(rows=300, features=12, classes=15, depth=3, noise=0.3)


def words(x: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(np.where(x > 0.5, x, 0))


TRAIN, TEST = words(DATA.train.X), words(DATA.test.X)


def fit(kind: type[CHMCNNClassifier] = CHMCNNClassifier, **options: Any) -> CHMCNNClassifier:
    return kind(DATA.hierarchy, **{"epochs": 4, "widths": (16,), "random_state": 0, **options}).fit(TRAIN, DATA.train.Y)


def test_a_sparse_matrix_never_becomes_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    to_array = sparse.csr_array.toarray

    def refuse_features(matrix: Any, *options: Any) -> Any:
        assert matrix.shape[1] != TRAIN.shape[1]
        return to_array(matrix, *options)

    monkeypatch.setattr(sparse.csr_array, "toarray", refuse_features)
    model = fit()
    scores = model.predict_proba(TEST)
    assert isinstance(model.network_, SparseMLP)
    assert len(DATA.hierarchy.violations(scores)) == 0
    assert model.score(TEST, DATA.test.Y) > 1.2 * DATA.test.Y.mean()


@pytest.mark.parametrize(
    "options", [{"preset": "paper", "epochs": 2}, {"network": lambda n, k: MLP(n, k, widths=(8,))}]
)
def test_the_paper_and_custom_networks_get_dense_batches(options: dict[str, Any]) -> None:
    assert isinstance(fit(**options).network_, MLP)


def test_plain_cross_entropy_has_the_same_network_and_other_systems_their_own() -> None:
    model = FPlusMax(DATA.hierarchy, epochs=1).fit(TRAIN, DATA.train.Y)
    assert isinstance(model.network_, SparseMLP)
    other = system("HMCN-F")(DATA.hierarchy, epochs=1).fit(TRAIN, DATA.train.Y)
    assert len(DATA.hierarchy.violations(other.predict_proba(TEST))) == 0


def test_a_model_is_saved_and_loaded(tmp_path: Path) -> None:
    model = fit()
    model.save(tmp_path / "model")
    again = CHMCNNClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(TEST), model.predict_proba(TEST))


def test_an_interrupted_training_resumes_and_gives_the_same_weights(tmp_path: Path) -> None:
    def interrupt(epoch: Epoch) -> None:
        if epoch.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(checkpoint=tmp_path, verbose=interrupt)
    resumed, whole = fit(checkpoint=tmp_path), fit()
    for name, value in whole.network_.state_dict().items():
        assert torch.equal(resumed.network_.state_dict()[name], value)


def test_partial_fit_takes_sparse_rows(tmp_path: Path) -> None:
    model = CHMCNNClassifier(DATA.hierarchy, widths=(16,), random_state=0)
    for _ in range(2):
        model.partial_fit(TRAIN, DATA.train.Y)
    model.save(tmp_path / "model")
    again = CHMCNNClassifier.load(tmp_path / "model")
    for each in (model, again):
        each.partial_fit(TRAIN, DATA.train.Y)
    np.testing.assert_array_equal(again.predict_proba(TEST), model.predict_proba(TEST))


def test_settings_of_the_user_are_used() -> None:
    model = fit(widths=(), learning_rate=1e-3)
    assert isinstance(model.network_, SparseMLP)
    assert model.network_.first.shape == (12, len(DATA.hierarchy))

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from scipy.sparse import csr_array
from torch import nn
from torch.utils.data import TensorDataset

from chmcnn import ChmcnnError, Hierarchy, training
from chmcnn.baselines import LMLP
from chmcnn.baselines.lmlp import Cascade
from chmcnn.datasets.synthetic import learnable

DATA = learnable(rows=300, features=8, classes=15, depth=3, noise=0.3)
VALID = (DATA.valid.X, DATA.valid.Y)


def fitted(**options: Any) -> LMLP:
    given = {"evaluated": DATA.evaluated, "epochs": 3, "random_state": 0, **options}
    return LMLP(DATA.hierarchy, **given).fit(DATA.train.X, DATA.train.Y, validation_data=VALID)


def test_each_network_is_told_what_the_one_above_it_predicts() -> None:
    first, second, x = nn.Linear(5, 2), nn.Linear(7, 1), torch.randn(3, 5)
    logits = Cascade([first, second], [np.array([2, 0]), np.array([3])], classes=4)(x)
    above = first(x)
    assert torch.equal(logits[:, [2, 0]], above)
    assert torch.equal(logits[:, [3]], second(torch.cat([x, above.sigmoid()], dim=1)))
    assert torch.equal(logits[:, 1], torch.full((3,), torch.inf))


def test_there_is_a_network_for_each_level() -> None:
    model = fitted(widths=(20,))
    sizes = np.bincount(DATA.hierarchy.depths[DATA.evaluated])
    learnt = sizes[sizes > 0]
    weights = [[values.shape for values in network.parameters()] for network in model.network_.networks]
    ends = [(first[1], last[0]) for first, *_, last in weights]
    assert ends == list(zip(8 + np.array([0, *learnt[:-1]]), learnt, strict=True))


def test_classes_that_are_not_evaluated_pull_nothing_down() -> None:
    evaluated = DATA.hierarchy.depths != 1
    model = fitted(evaluated=evaluated)
    scores = model.predict_proba(DATA.test.X)
    for column in np.flatnonzero(~evaluated):
        below = [DATA.hierarchy.index(name) for name in DATA.hierarchy.descendants(DATA.hierarchy.classes[column])]
        best = scores[:, below].max(axis=1) if below else np.zeros(len(scores))
        assert np.array_equal(scores[:, column], best)
    assert (model.uncorrected_proba(DATA.test.X)[:, ~evaluated] == 1).all()


def test_the_level_above_is_ready_before_a_level_is_trained() -> None:
    """Networks of the first two levels, trained by hand, are those of the model."""
    model = fitted(refit=False)
    settings = replace(model._create_settings(), refit=False)
    rows, held = (model._to_rows(part.X, part.Y) for part in (DATA.train, DATA.valid))
    for level in range(2):
        columns = model._levels[level]
        trained = training.train(
            partial(model._build, level),
            training.Rows(rows.x, rows.y[:, columns]),
            loss=lambda logits, y: nn.functional.binary_cross_entropy_with_logits(logits, y.float()),
            settings=settings,
            valid=training.Rows(held.x, held.y[:, columns]),
        )
        for ours, theirs in zip(trained.network.parameters(), model.network_.networks[level].parameters(), strict=True):
            torch.testing.assert_close(ours, theirs)
        rows, held = model._extend(rows, trained.network), model._extend(held, trained.network)


def test_a_refit_learns_from_all_rows_for_the_best_number_of_epochs() -> None:
    model, before = fitted(), fitted(refit=False)
    searched = [epoch for epoch in model.history_ if epoch.phase == "train"]
    assert [epoch.loss for epoch in searched] == [epoch.loss for epoch in before.history_]
    assert [epoch.number for epoch in searched] == list(range(1, len(searched) + 1))
    assert model.best_score_ == before.best_score_ == pytest.approx(before.score(*VALID))
    assert any(epoch.phase == "refit" for epoch in model.history_)
    assert not np.array_equal(model.predict_proba(DATA.test.X), before.predict_proba(DATA.test.X))


def test_without_validation_rows_every_level_has_all_epochs() -> None:
    model = LMLP(DATA.hierarchy, validation=0, epochs=2, random_state=0).fit(DATA.train.X, DATA.train.Y)
    assert len(model.history_) == 2 * len(model._levels)
    assert np.isnan(model.best_score_)


def test_a_level_that_no_validation_row_has_is_trained_as_long_as_the_one_above() -> None:
    shallow = DATA.valid.Y.toarray() & (DATA.hierarchy.depths < 3)
    model = LMLP(DATA.hierarchy, epochs=4, patience=1, random_state=0)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, shallow))
    searched = [epoch for epoch in model.history_ if epoch.phase == "train"]
    last = [epoch for epoch in searched if np.isnan(epoch.score)]
    before = [epoch for epoch in searched if not np.isnan(epoch.score)]
    *_, start = [number for number, epoch in enumerate(before) if epoch.of > before[number - 1].of]
    assert len(last) == before[-1].best - start > 0


def test_a_sparse_matrix_gives_what_a_dense_one_does() -> None:
    x = np.asarray(DATA.train.X)
    dense = LMLP(DATA.hierarchy, preprocess=False, epochs=2, random_state=0).fit(x, DATA.train.Y)
    sparse = LMLP(DATA.hierarchy, preprocess=False, epochs=2, random_state=0).fit(csr_array(x), DATA.train.Y)
    np.testing.assert_allclose(sparse.predict_proba(csr_array(x)), dense.predict_proba(x), atol=1e-5)


def test_a_training_goes_on_from_the_checkpoints_of_its_levels(tmp_path: Path) -> None:
    model = fitted(checkpoint=tmp_path)
    names = {f"{phase}-level-{level + 1}" for phase in ("train", "refit") for level in range(len(model._levels))}
    assert {folder.name for folder in tmp_path.iterdir()} == names
    again = fitted(checkpoint=tmp_path)
    assert repr(again.history_) == repr(model.history_)  # with the time of each epoch: nothing was trained again
    assert np.array_equal(again.predict_proba(DATA.test.X), model.predict_proba(DATA.test.X))


@pytest.mark.usefixtures("one_table_of_operators")
def test_saved_loaded_and_exported_models_predict_the_same(tmp_path: Path) -> None:
    model = fitted()
    expected = model.predict_proba(DATA.test.X)
    model.save(tmp_path / "model")
    assert np.array_equal(LMLP.load(tmp_path / "model").predict_proba(DATA.test.X), expected)
    model.to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (scores,) = session.run(None, {"features": np.asarray(DATA.test.X, dtype=np.float32)})
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_class_weights_reach_their_level() -> None:
    options: Any = {"validation": 0, "epochs": 2, "random_state": 0}
    plain, weighted = (
        LMLP(DATA.hierarchy, class_weight=weight, **options).fit(DATA.train.X, DATA.train.Y)
        for weight in (None, {DATA.hierarchy.classes[-1]: 50.0})
    )
    differ = [
        any(not torch.equal(*pair) for pair in zip(one.parameters(), other.parameters(), strict=True))
        for one, other in zip(plain.network_.networks, weighted.network_.networks, strict=True)
    ]
    assert differ == [False, False, False, True]


def test_one_level_is_refused() -> None:
    with pytest.raises(ChmcnnError, match=r"all 2 classes that count are on one level\. Use C-HMCNN"):
        LMLP(Hierarchy.from_edges([], classes=["a", "b"])).fit([[0.0], [1.0]], [{"a"}, {"b"}])


def test_what_cannot_be_trained_level_by_level_is_refused() -> None:
    with pytest.raises(ChmcnnError, match="pass a function that creates one"):
        fitted(network=nn.Linear(8, 15))
    with pytest.raises(ChmcnnError, match="use fit with all rows"):
        LMLP(DATA.hierarchy).partial_fit(DATA.train.X, DATA.train.Y)
    stream = TensorDataset(torch.tensor(DATA.train.X), torch.tensor(DATA.train.Y.toarray()))
    with pytest.raises(ChmcnnError, match="pass a table"):
        LMLP(DATA.hierarchy, epochs=1).fit(stream)


def test_a_function_makes_the_network_of_every_level() -> None:
    assert all(isinstance(network, nn.Linear) for network in fitted(network=nn.Linear).network_.networks)

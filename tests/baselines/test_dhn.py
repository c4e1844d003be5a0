from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from chmcnn import ChmcnnError, Hierarchy, metrics
from chmcnn.baselines import DHN
from chmcnn.baselines.dhn import mix_outputs
from chmcnn.constraint import max_constraint, mc_loss
from chmcnn.datasets.synthetic import learnable

DATA = learnable(rows=300, features=8, classes=15, depth=3, edges=18, noise=0.3)


def fitted(**options: Any) -> DHN:
    given = {"epochs": 5, "random_state": 0, **options}
    return DHN(DATA.hierarchy, **given).fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))


def test_a_share_of_one_is_the_max_constraint_on_yes() -> None:
    outputs = torch.randn(5, 2 * len(DATA.hierarchy))
    expected = max_constraint(outputs.sigmoid()[:, : len(DATA.hierarchy)], DATA.hierarchy)
    assert torch.equal(mix_outputs(outputs, DATA.hierarchy, 1.0), expected)


def test_a_share_of_zero_is_what_the_ancestors_do_not_rule_out() -> None:
    hierarchy = Hierarchy.from_edges([("animal", "dog")])
    outputs = torch.logit(torch.tensor([[0.5, 0.5, 0.7, 0.2], [0.5, 0.5, 0.2, 0.7]]))
    expected = torch.tensor([[0.3, 0.3], [0.8, 0.3]])
    torch.testing.assert_close(mix_outputs(outputs, hierarchy, 0.0), expected)


def test_the_loss_is_mirrored() -> None:
    model = fitted(epochs=1)
    outputs, y = torch.randn(4, 2 * len(DATA.hierarchy)), torch.tensor(DATA.train.Y[:4].toarray())
    yes, no = outputs.chunk(2, dim=-1)
    mask = torch.tensor(model.evaluated_)
    expected = mc_loss(yes, y, DATA.hierarchy, mask=mask) + mc_loss(no, ~y, DATA.hierarchy.reversed, mask=mask)
    torch.testing.assert_close(model._create_loss(None)(outputs, y), expected)


def test_the_share_is_the_best_one_on_validation_rows() -> None:
    model = fitted(refit=False)
    outputs = model.outputs(DATA.valid.X)
    scores = {
        share / 10: metrics.auprc(
            DATA.valid.Y, mix_outputs(outputs, DATA.hierarchy, share / 10), classes=model.evaluated_
        )
        for share in range(11)
    }
    assert scores[model.mix_] == max(scores.values()) == pytest.approx(model.best_score_)
    assert model.score(DATA.valid.X, DATA.valid.Y) == pytest.approx(model.best_score_)


def test_a_share_that_is_given_is_used() -> None:
    model = clone(DHN(DATA.hierarchy, mix=0.3, epochs=1, random_state=0)).fit(DATA.train.X, DATA.train.Y)
    assert model.mix_ == 0.3
    assert DHN(DATA.hierarchy, validation=0, epochs=1).fit(DATA.train.X, DATA.train.Y).mix_ == 0.5


@pytest.mark.parametrize("mix", [-0.1, 1.5, "all"])
def test_a_share_beyond_zero_and_one_is_refused(mix: Any) -> None:
    with pytest.raises(ChmcnnError, match=f"mix is {mix!r}; expected a number from 0 to 1"):
        fitted(mix=mix)


def test_a_network_of_ones_own_gives_two_logits_a_class() -> None:
    model = fitted(network=nn.Linear)
    assert model.network_.out_features == 2 * len(DATA.hierarchy)
    assert model.predict_proba(DATA.test.X).shape == DATA.test.Y.shape


def test_saved_and_loaded_models_predict_the_same(tmp_path: Path) -> None:
    model = fitted()
    expected = model.predict_proba(DATA.test.X)
    model.save(tmp_path / "model")
    loaded = DHN.load(tmp_path / "model")
    assert loaded.mix_ == model.mix_
    assert np.array_equal(loaded.predict_proba(DATA.test.X), expected)

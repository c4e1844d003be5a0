from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.estimator.models import DATA, QUICK, fitted
from torch import nn

from chmcnn import CHMCNNClassifier, ChmcnnError, LabelError
from chmcnn.baselines import HMCNF
from chmcnn.training import Epoch


def test_many_rows_get_less_dropout_unless_it_is_given(tmp_path: Path) -> None:
    X, Y = np.tile(DATA.train.X, (40, 1)), np.tile(DATA.train.Y.toarray(), (40, 1))
    quick: dict[str, Any] = {"epochs": 1, "widths": (4,), "validation": 0, "random_state": 0}
    long, short, given = (
        CHMCNNClassifier(DATA.hierarchy, **quick, dropout=dropout).fit(X[:rows], Y[:rows])
        for rows, dropout in ((5001, None), (5000, None), (5001, 0.6))
    )
    assert [model.architecture()["dropout"] for model in (long, short, given)] == [0.5, 0.7, 0.6]
    long.save(tmp_path / "model")
    assert CHMCNNClassifier.load(tmp_path / "model").architecture()["dropout"] == 0.5


def test_the_rank_of_the_last_layer_is_kept_in_the_model(tmp_path: Path) -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK, output_rank=3).fit(DATA.train.X, DATA.train.Y)
    assert [tuple(layer.shape) for name, layer in model.network_.named_parameters()][-3:] == [(3, 16), (15, 3), (15,)]
    model.save(tmp_path / "model")
    again = CHMCNNClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(DATA.test.X), model.predict_proba(DATA.test.X))
    with pytest.raises(ChmcnnError, match="output_rank is 3, but HMCN has a last layer for each level: omit it"):
        HMCNF(DATA.hierarchy, output_rank=3).fit(DATA.train.X, DATA.train.Y)


def test_partial_fit_goes_on() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    for _ in range(40):
        for half in (slice(0, 90), slice(90, 180)):
            model.partial_fit(DATA.train.X[half], DATA.train.Y[half])
    losses = [epoch.loss for epoch in model.history_]
    assert len(losses) == 80
    assert losses[-1] < 0.7 * losses[0]
    with pytest.raises(ChmcnnError, match="partial_fit needs hierarchy= or classes="):
        CHMCNNClassifier().partial_fit(np.eye(2), [{"a"}, {"b"}])


def test_partial_fit_forgets_the_risks_of_the_model_before() -> None:
    model = fitted()
    assert model.predict_labels(DATA.test.X, risk=0.3)
    model.partial_fit(DATA.train.X, DATA.train.Y)
    with pytest.raises(ChmcnnError, match="The model has no held-out rows to base a risk"):
        model.predict_labels(DATA.test.X, risk=0.3)
    assert model.guarantee(DATA.test.X, DATA.test.Y).predict_labels(DATA.test.X, risk=0.3)


@pytest.mark.parametrize("steps_before", [0, 1])
def test_a_partial_fit_that_fails_leaves_the_model_as_it_was(steps_before: int) -> None:
    model, other = fitted(), fitted()
    for each in (model, other):
        for _ in range(steps_before):
            each.partial_fit(DATA.train.X, DATA.train.Y)
    model.set_params(learning_rate=1e30)
    with pytest.raises(ChmcnnError, match=r"The loss of epoch \d is (nan|inf)"):
        model.partial_fit(DATA.train.X, DATA.train.Y)
    assert np.array_equal(model.predict_proba(DATA.test.X), other.predict_proba(DATA.test.X))
    model.set_params(learning_rate=other.learning_rate)
    for each in (model, other):
        each.partial_fit(DATA.train.X, DATA.train.Y)
    assert np.array_equal(model.predict_proba(DATA.test.X), other.predict_proba(DATA.test.X))


def test_trainings_in_threads_are_those_of_one_thread_and_leave_torchs_seed_alone() -> None:
    expected, state = fitted().predict_proba(DATA.test.X), torch.get_rng_state()
    with ThreadPoolExecutor(3) as threads:
        models = [*threads.map(lambda _: fitted(), range(3))]
    assert all(np.array_equal(model.predict_proba(DATA.test.X), expected) for model in models)
    assert torch.equal(torch.get_rng_state(), state)


def test_networks_of_the_users_own() -> None:
    module = nn.Linear(8, 15)
    before = module.weight.detach().clone()
    model = fitted(network=module)
    assert torch.equal(module.weight, before)  # it is copied
    assert model.predict(DATA.test.X).shape == (60, 15)
    assert fitted(network=nn.Linear).predict(DATA.test.X).shape == (60, 15)


def test_a_training_that_fails_leaves_the_model_as_it_was() -> None:
    model = fitted()
    before = model.predict_proba(DATA.test.X)
    with pytest.raises(LabelError):
        model.fit(DATA.train.X * 100 + 5, DATA.train.Y[:-1])
    assert np.array_equal(model.predict_proba(DATA.test.X), before)


def test_a_killed_training_goes_on(tmp_path: Path) -> None:
    expected = fitted().predict_proba(DATA.test.X)
    assert np.array_equal(fitted(checkpoint=tmp_path).predict_proba(DATA.test.X), expected)
    assert np.array_equal(fitted(checkpoint=tmp_path).predict_proba(DATA.test.X), expected)


def test_a_function_is_called_with_each_epoch_and_may_end_the_training() -> None:
    seen: list[int] = []

    def watch(epoch: Epoch) -> None:
        seen.append(epoch.number)
        if epoch.number == 2:
            raise StopIteration

    model = CHMCNNClassifier(DATA.hierarchy, **QUICK | {"epochs": 5}, verbose=watch)
    with pytest.raises(StopIteration):
        model.fit(DATA.train.X, DATA.train.Y)
    assert seen == [1, 2]
    assert not hasattr(model, "network_")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"preset": "fast"}, "preset is 'fast', which is an ensemble: use chmcnn.CoherentEnsemble"),
        ({"threshold": 1.5}, "threshold is 1.5; expected a number from 0 to 1, 'tune', 'hierarchical_f' or 'fmax'"),
        ({"validation": 1.0}, "validation is 1.0; expected a number from 0 to below 1"),
        ({"evaluated": [True]}, r"evaluated has shape \(1,\) and type bool; expected a mask of the 15 classes"),
        ({"random_state": -1}, "random_state is -1; expected a number from 0"),
        ({"class_weight": np.ones(15)}, "class_weight is"),
        ({"device": "moon"}, "device is 'moon', which is not available"),
    ],
)
def test_bad_options_are_told(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ChmcnnError, match=told):
        fitted(**options)


def test_a_network_that_does_not_fit_into_memory_is_told_before_the_training() -> None:
    with pytest.raises(
        ChmcnnError, match=r"The weights of the network need 3,725,290,\d+ GiB, and as much again while"
    ):
        fitted(widths=(10**9, 10**9))


def test_a_device_without_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChmcnnError, match="device is 'meta', which is not available"):
        fitted(device="meta")
    fitted().save(tmp_path / "model")
    with pytest.raises(ChmcnnError, match=r"^device is 'meta', which is not available"):
        CHMCNNClassifier.load(tmp_path / "model", device="meta")

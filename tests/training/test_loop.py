import dataclasses
import itertools
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from tests import processes
from tests.untyped import untyped
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from chmcnn import ChmcnnError
from chmcnn.datasets.synthetic import learnable
from chmcnn.nn import MLP, MaxConstraint, MCLoss
from chmcnn.training import Epoch, Rows, Settings, Trained, Training, start, train

DATA = learnable(rows=300, features=10, classes=20, depth=3, noise=0.3)
SETTINGS = Settings(epochs=6, batch_size=16, patience=3)


def rows(part: str) -> Rows:
    table = DATA.parts[part]
    return Rows(torch.tensor(table.X, dtype=torch.float32), table.Y)


def build() -> nn.Module:
    return MLP(10, 20, widths=(32,), dropout=0.3)


def run(settings: Settings = SETTINGS, *, data: object = None, valid: bool = True, **options: Any) -> Trained:
    return train(
        build,
        rows("train") if data is None else data,
        loss=MCLoss(DATA.hierarchy, validate=False),
        settings=settings,
        valid=rows("valid") if valid else None,
        scores=MaxConstraint(DATA.hierarchy),
        **options,
    )


def same(one: nn.Module, other: nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def test_it_learns() -> None:
    found = run(Settings(epochs=40, batch_size=16, patience=None))
    losses = [epoch.loss for epoch in found.history if epoch.phase == "train"]
    assert losses[-1] < 0.5 * losses[0]
    assert found.best_score > 0.7
    assert found.best_score == max(epoch.score for epoch in found.history if epoch.phase == "train")


def test_the_same_seed_gives_the_same_weights_and_leaves_the_users_numbers_alone() -> None:
    torch.manual_seed(5)
    before = torch.rand(1)
    torch.manual_seed(5)
    first = run()
    assert torch.equal(torch.rand(1), before)
    torch.manual_seed(77)
    assert same(first.network, run().network)
    assert not same(first.network, run(dataclasses.replace(SETTINGS, seed=1)).network)


def test_patience_counts_epochs_since_the_last_that_was_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = itertools.chain([0.1, 0.5, 0.4, 0.5, 0.3, 0.2, 0.1], itertools.repeat(0.9))
    monkeypatch.setattr("chmcnn.training._validation.divided_auprc", lambda *_, **__: next(scores))
    found = run(dataclasses.replace(SETTINGS, epochs=50))
    assert [epoch.number for epoch in found.history if epoch.phase == "train"] == [1, 2, 3, 4, 5, 6, 7]
    assert found.best_epoch == 4
    assert [epoch.number for epoch in found.history if epoch.phase == "refit"] == [1, 2, 3, 4]


@pytest.mark.parametrize(("growth", "last"), [(0.0, 8), (0.5, 8), (0.7, 9)])
def test_patience_is_at_least_a_share_of_the_best_epoch(
    monkeypatch: pytest.MonkeyPatch, growth: float, last: int
) -> None:
    scores = itertools.chain([0.1, 0.2, 0.3, 0.4, 0.5], itertools.repeat(0.2))
    monkeypatch.setattr("chmcnn.training._validation.divided_auprc", lambda *_, **__: next(scores))
    found = run(dataclasses.replace(SETTINGS, epochs=50, patience_growth=growth))
    assert [epoch.number for epoch in found.history if epoch.phase == "train"] == [*range(1, last + 1)]
    assert found.best_epoch == 5


def test_refit_trains_on_all_rows_for_the_best_number_of_epochs() -> None:
    found = run()
    parts = [DATA.train, DATA.valid]
    x, y = np.concatenate([part.X for part in parts]), sparse.vstack([part.Y for part in parts], format="csr")
    whole = Rows(torch.tensor(x, dtype=torch.float32), y)
    with torch.random.fork_rng():
        by_hand = start(build, SETTINGS, "cpu", "refit")  # with seeds of its own
    loss = MCLoss(DATA.hierarchy)
    phase = Training(by_hand, whole, loss, SETTINGS)
    losses = [phase.run_one().loss for _ in range(found.best_epoch)]
    assert same(found.network, by_hand.network)
    assert [epoch.loss for epoch in found.history if epoch.phase == "refit"] == losses


def test_without_refit_the_weights_of_the_best_epoch_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([0.3, 0.9, 0.1, 0.2, 0.3])

    def measure(*_: object, **__: object) -> float:
        return next(scores)

    monkeypatch.setattr("chmcnn.training._validation.divided_auprc", measure)
    best = run(dataclasses.replace(SETTINGS, refit=False, patience=3)).network
    short = run(dataclasses.replace(SETTINGS, epochs=2), valid=False).network
    assert same(best, short)


def test_without_validation_all_epochs_are_trained() -> None:
    found = run(valid=False)
    assert len(found.history) == found.best_epoch == 6
    assert np.isnan([epoch.score for epoch in found.history]).all()


@pytest.mark.parametrize(("refit", "averaging"), [(True, 0.0), (True, 2.0), (False, 2.0)])
@pytest.mark.parametrize("stop_after", [1, 3, 7, 9])
def test_a_training_that_was_stopped_goes_on_to_the_same_result(
    tmp_path: Path, refit: bool, averaging: float, stop_after: int
) -> None:
    options: dict[str, Any] = {"batch_size": 60, "patience": None, "schedule": "cosine"}
    settings = dataclasses.replace(SETTINGS, refit=refit, averaging=averaging, **options)
    whole = run(settings)
    seen = itertools.count(1)

    class StopError(Exception):
        pass

    def stop(_: Epoch) -> None:
        if next(seen) == stop_after:
            raise StopError

    if stop_after <= len(whole.history):
        with pytest.raises(StopError):
            run(settings, checkpoint=tmp_path, progress=stop)
    resumed = run(settings, checkpoint=tmp_path)
    assert same(whole.network, resumed.network)
    assert [(e.phase, e.number, e.loss) for e in whole.history] == [
        (e.phase, e.number, e.loss) for e in resumed.history
    ]
    assert (resumed.best_epoch, resumed.best_score) == (whole.best_epoch, whole.best_score)
    assert same(whole.network, run(settings, checkpoint=tmp_path).network)  # a finished one is not trained again


LONG = dataclasses.replace(SETTINGS, epochs=20, patience=None)


def run_until_killed(checkpoint: Path) -> None:
    def kill(epoch: Epoch) -> None:
        if epoch.number == 4:
            os.kill(os.getpid(), signal.SIGKILL)

    run(LONG, checkpoint=checkpoint, progress=kill)


def test_a_killed_process_leaves_a_whole_checkpoint(tmp_path: Path) -> None:
    process = processes.start(run_until_killed, tmp_path)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert (tmp_path / "checkpoint.safetensors").exists()
    resumed = run(LONG, checkpoint=tmp_path)
    assert same(resumed.network, run(LONG).network)


def test_a_checkpoint_of_another_training_or_a_broken_one_is_refused(tmp_path: Path) -> None:
    run(checkpoint=tmp_path)
    with pytest.raises(ChmcnnError, match="belongs to a training with other network and settings"):
        run(dataclasses.replace(SETTINGS, seed=3), checkpoint=tmp_path)
    other = Rows(rows("train").x, rows("train").y[::-1])
    with pytest.raises(ChmcnnError, match="belongs to a training with other training rows"):
        run(checkpoint=tmp_path, data=other)
    with pytest.raises(ChmcnnError, match="belongs to a training with other evaluated classes"):
        run(checkpoint=tmp_path, evaluated=np.arange(20) > 0)
    file = tmp_path / "checkpoint.safetensors"
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ChmcnnError, match="is not a complete checkpoint"):
        run(checkpoint=tmp_path)


def test_data_sets_loaders_and_sparse_rows_are_trained_on_too() -> None:
    memory = rows("train")
    assert isinstance(memory.x, torch.Tensor)
    settings = dataclasses.replace(SETTINGS, refit=False)
    pairs = TensorDataset(memory.x, torch.from_numpy(memory.y.toarray()))
    assert run(settings, data=pairs).best_score > 0.2
    assert run(settings, data=DataLoader(pairs, 16)).best_score > 0.2
    thin = Rows(sparse.csr_array(memory.x.numpy()), memory.y)
    assert same(run(settings, data=thin).network, run(settings).network)
    with pytest.raises(ChmcnnError, match="refit needs the training rows in memory"):
        run(data=pairs)
    with pytest.raises(ChmcnnError, match="has no batch"):
        run(settings, data=[])


def test_half_precision_and_the_schedule() -> None:
    assert run(dataclasses.replace(SETTINGS, precision="bfloat16")).best_score > 0.2
    assert not same(run().network, run(dataclasses.replace(SETTINGS, schedule="cosine")).network)


def test_weights_are_averaged_over_some_epochs() -> None:
    settings = Settings(epochs=3, batch_size=60, patience=None, refit=False)  # 3 steps an epoch
    seen: list[torch.Tensor] = []

    def averaged(averaging: float) -> torch.Tensor:
        return _first(run(dataclasses.replace(settings, averaging=averaging), valid=False).network)

    networks: list[nn.Module] = []

    def remembered() -> nn.Module:
        networks.append(build())
        networks[-1].register_forward_pre_hook(lambda module, _: seen.append(_first(module)))
        return networks[-1]

    train(remembered, rows("train"), loss=MCLoss(DATA.hierarchy), settings=settings)
    steps = [*seen[1:], _first(networks[0])]  # the weights after each of 9 steps
    expected = steps[0]
    for number, weights in enumerate(steps[1:], start=2):  # over 2 epochs of 3 steps, and fewer at the beginning
        expected = expected + (weights - expected) * max(1 / 6, 9 / (9 + number))
    assert torch.allclose(averaged(2.0), expected, atol=1e-7)
    assert torch.equal(averaged(0.0), steps[-1])


def _first(network: nn.Module) -> torch.Tensor:
    return next(network.parameters()).detach().clone()


def test_bad_settings_and_networks_are_told() -> None:
    for name, value in {
        "epochs": 0,
        "batch_size": 0,
        "patience": -1,
        "weight_decay": -1,
        "averaging": -1,
        "learning_rate": 0.0,
    }.items():
        with pytest.raises(ChmcnnError, match=f"{name} is {value}; expected"):
            Settings(**untyped({name: value}))
    with pytest.raises(ChmcnnError, match="epochs is 'a'; expected an integer, 1 or more"):
        Settings(epochs=untyped("a"))
    with pytest.raises(ChmcnnError, match="schedule is 'step'; expected 'constant' or 'cosine'"):
        Settings(schedule=untyped("step"))
    with pytest.raises(ChmcnnError, match=r"The loss of epoch \d is (nan|inf); try a smaller learning_rate"):
        run(dataclasses.replace(SETTINGS, learning_rate=1e30))
    with pytest.raises(ChmcnnError, match="no parameter to train"):
        train(nn.Identity, rows("train"), loss=MCLoss(DATA.hierarchy), settings=SETTINGS)

"""A time budget, with a clock of the tests: no test waits."""

import dataclasses
import itertools
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.training.test_loop import SETTINGS, rows, run, same
from torch.utils.data import DataLoader, TensorDataset

from chmcnn import CHMCNNClassifier, ChmcnnError
from chmcnn.baselines import LMLP
from chmcnn.datasets.synthetic import learnable
from chmcnn.training import Settings, Trained, _budget, _loop

STEPS = 12  # of an epoch
UNLIMITED = dataclasses.replace(SETTINGS, patience=None)


class Clock:
    """A clock in which every look takes a second; a step of the training looks once, an epoch twice more."""

    def __init__(self) -> None:
        self.now = 0.0
        self.tick = 1.0

    def monotonic(self) -> float:
        self.now += self.tick
        return self.now

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(_budget, "time", clock)
    monkeypatch.setattr(_loop, "time", clock)
    return clock


def budget(seconds: float, settings: Settings = UNLIMITED) -> Settings:
    return dataclasses.replace(settings, max_minutes=seconds / 60)


def epochs(trained: Trained, phase: str = "train") -> list[int]:
    return [epoch.number for epoch in trained.history if epoch.phase == phase]


@pytest.fixture
def falling_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the second epoch be the best."""
    scores = itertools.chain([0.3, 0.9], itertools.repeat(0.1))
    monkeypatch.setattr("chmcnn.training._validation.divided_auprc", lambda *_, **__: next(scores))


@pytest.mark.usefixtures("falling_scores")
def test_the_training_stops_within_an_epoch_and_keeps_the_best_weights() -> None:
    found = run(budget(48))
    assert epochs(found) == [1, 2, 3, 4]
    assert epochs(found, "refit") == []
    assert found.best_epoch == 2
    assert found.notice == "The time budget of 0.8 minutes is over after 4 epochs: the weights of epoch 2 are kept."
    two_epochs = run(dataclasses.replace(UNLIMITED, epochs=2), valid=False)
    assert same(found.network, two_epochs.network)


def test_an_epoch_that_is_longer_than_the_budget_is_validated_where_it_stops() -> None:
    found = run(budget(STEPS / 2))
    (epoch,) = found.history
    assert (epoch.number, found.best_epoch, found.best_score) == (1, 1, epoch.score)
    assert not math.isnan(epoch.score)
    whole = run(dataclasses.replace(UNLIMITED, epochs=1, refit=False))
    assert not same(found.network, whole.network)


def test_the_smallest_budget_trains_one_step() -> None:
    found = run(Settings(epochs=3, batch_size=16, max_minutes=1e-9))
    assert epochs(found) == [1]
    assert found.best_weights


def test_without_validation_rows_the_last_weights_are_kept() -> None:
    found = run(budget(STEPS * 2 + 6), valid=False)
    assert found.best_epoch == len(found.history) == 3
    assert found.notice == "The time budget of 0.5 minutes is over after 3 epochs: the last weights are kept."


def test_a_stream_stops_too() -> None:
    memory = rows("train")
    pairs: list[tuple[object, object]] = [(memory.x, torch.from_numpy(memory.y.toarray()))]
    found = run(budget(5, dataclasses.replace(UNLIMITED, refit=False)), data=itertools.cycle(pairs))
    assert epochs(found) == [1]


def test_a_budget_that_is_not_used_up_changes_nothing() -> None:
    found, free = run(budget(10_000, SETTINGS)), run()
    assert same(found.network, free.network)
    assert found.notice == ""
    assert epochs(found, "refit") == epochs(free, "refit") != []


def test_a_refit_that_would_take_too_long_is_left_out() -> None:
    found = run(budget(6 * (STEPS + 2) + 30))
    assert epochs(found) == [1, 2, 3, 4, 5, 6]
    assert epochs(found, "refit") == []
    assert found.notice.startswith(f"A refit of {found.best_epoch} epochs takes about ")
    assert found.notice.endswith(f"minutes are left: the weights of epoch {found.best_epoch} are kept.")
    assert same(found.network, run(dataclasses.replace(UNLIMITED, refit=False)).network)


def test_a_refit_that_takes_longer_than_expected_is_dropped(clock: Clock) -> None:
    def slow_down(epoch: object) -> None:
        if getattr(epoch, "phase", "") == "refit":
            clock.now += 10_000

    found = run(budget(5000), progress=slow_down)
    assert epochs(found, "refit") == [1]
    assert found.notice.startswith("The time budget of 83.3333 minutes is over before the refit has finished: ")
    assert same(found.network, run(dataclasses.replace(UNLIMITED, refit=False)).network)


def test_a_resumed_training_counts_the_time_before_and_may_have_more(tmp_path: Path) -> None:
    first = run(budget(STEPS * 2 + 6), checkpoint=tmp_path)
    assert epochs(first) == [1, 2, 3]
    again = run(budget(STEPS * 2 + 6), checkpoint=tmp_path)
    assert epochs(again) == [1, 2, 3]
    assert same(first.network, again.network)
    more = run(budget(STEPS * 4), checkpoint=tmp_path)
    assert epochs(more) == [1, 2, 3, 4, 5]
    last = run(UNLIMITED, checkpoint=tmp_path)
    assert epochs(last) == [1, 2, 3, 4, 5, 6]
    assert epochs(last, "refit") != []
    assert last.notice == ""


def test_other_settings_of_a_resumed_training_are_refused_as_before(tmp_path: Path) -> None:
    run(budget(STEPS), checkpoint=tmp_path)
    with pytest.raises(ChmcnnError, match="belongs to a training with other settings"):
        run(dataclasses.replace(budget(STEPS), batch_size=8), checkpoint=tmp_path)


DATA = learnable(rows=120, features=4, classes=8, depth=2)


def test_the_estimator_has_the_notice_and_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    model = CHMCNNClassifier(DATA.hierarchy, max_minutes=3 / 60, random_state=0, verbose=True)
    model.fit(DATA.train.X, DATA.train.Y)
    assert model.notice_.startswith("The time budget of 0.05 minutes is over after ")
    assert model.notice_ in capsys.readouterr().err
    model.set_params(max_minutes=None, epochs=1, verbose=False).fit(DATA.train.X, DATA.train.Y)
    assert model.notice_ == ""


def test_partial_fit_has_no_budget() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, max_minutes=1e-9, random_state=0, batch_size=8)
    free = CHMCNNClassifier(DATA.hierarchy, random_state=0, batch_size=8)
    for each in (model, free):
        each.partial_fit(DATA.train.X, DATA.train.Y)
    assert same(model.network_, free.network_)


def test_the_levels_of_lmlp_share_the_time() -> None:
    cut = LMLP(DATA.hierarchy, max_minutes=9 / 60, random_state=0, epochs=50, batch_size=32)
    cut.fit(DATA.train.X, DATA.train.Y)
    assert 3 <= len(cut.history_) < 20
    assert cut.notice_.startswith("The time budget of 0.15 minutes is over after ")
    assert {epoch.phase for epoch in cut.history_} == {"train"}
    assert len(DATA.hierarchy.violations(cut.predict_proba(DATA.test.X))) == 0


def test_lmlp_leaves_out_a_refit_that_would_take_too_long() -> None:
    options: dict[str, Any] = {"random_state": 0, "epochs": 2, "batch_size": 32}
    free = LMLP(DATA.hierarchy, **options, max_minutes=1000).fit(DATA.train.X, DATA.train.Y)
    assert free.notice_ == ""
    used = sum(epoch.seconds for epoch in free.history_ if epoch.phase == "train")
    short = LMLP(DATA.hierarchy, **options, max_minutes=1.6 * used / 60).fit(DATA.train.X, DATA.train.Y)
    assert short.notice_.startswith("A refit of ")
    assert {epoch.phase for epoch in short.history_} == {"train"}


def test_a_stream_without_validation_rows_may_end_by_its_time_alone() -> None:
    rows = TensorDataset(torch.tensor(DATA.train.X), torch.tensor(DATA.train.Y.toarray()))
    model = CHMCNNClassifier(DATA.hierarchy, max_minutes=0.5, random_state=0)
    model.fit(DataLoader(rows, batch_size=30))
    assert model.notice_.endswith("the last weights are kept.")

"""The search for settings: what is tried, what is kept, and what is never looked at."""

import json
import signal
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import filelock
import numpy as np
import optuna
import pytest
from tests.search.searching import DATA, FIXED, SPACE, run_search
from tests.untyped import untyped

from chmcnn import CHMCNNClassifier, ChmcnnError, search
from chmcnn._workers import KilledError
from chmcnn.comparison import Split
from chmcnn.datasets.dataset import Dataset, Table
from chmcnn.datasets.synthetic import learnable
from chmcnn.errors import FileError
from chmcnn.search import SearchPlan, SearchResult
from chmcnn.search._trials import SearchSpec

pytestmark = pytest.mark.usefixtures("one_reading_of_revisions")


def points(result: SearchResult) -> list[str]:
    return sorted(json.dumps(row) for row in result.trials[list(result.searched)].values.tolist())


def study(folder: Path) -> optuna.Study:
    return optuna.load_study(study_name="search", storage=f"sqlite:///{folder / 'search' / 'study.db'}")


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SearchResult]:
    """A grid that two processes have searched."""
    folder = tmp_path_factory.mktemp("grid")
    return folder, run_search(folder, SearchPlan(SPACE, "grid", settings=FIXED), jobs=2)


def test_a_grid_is_covered_once_by_several_processes(grid: tuple[Path, SearchResult]) -> None:
    folder, result = grid
    assert len(points(result)) == len(set(points(result))) == 4
    assert (result.trials["state"] == "finished").all()
    assert result.best["learning_rate"] == 0.01
    assert json.loads((folder / "search" / "best.json").read_text()) == result.best
    assert sum(result.importances.values()) == pytest.approx(1)
    assert set(result.importances) == set(SPACE)
    assert [path.name for path in (folder / "search" / ".locks").iterdir()] == ["study.lock"]


def test_data_without_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ChmcnnError, match="data is of type tuple; expected a Dataset, or Table"):
        run_search(tmp_path, SearchPlan(SPACE, "grid"), data=(DATA.train.X, DATA.train.Y))
    assert not [*tmp_path.iterdir()]


def test_any_executor_can_run_a_search(grid: tuple[Path, SearchResult], tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        result = run_search(tmp_path, SearchPlan(SPACE, "grid", settings=FIXED), executor=executor)
        assert executor.submit(abs, -1).result() == 1, "it stays open"
    assert points(result) == points(grid[1])
    assert result.best == grid[1].best


def test_what_is_finished_is_not_run_again(grid: tuple[Path, SearchResult], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, result = grid
    monkeypatch.setattr(CHMCNNClassifier, "fit", None)
    again = run_search(folder, SearchPlan(SPACE, "grid", settings=FIXED))
    assert again.trials.equals(result.trials)
    assert run_search(folder, SearchPlan(SPACE, "grid", 3, settings=FIXED)).trials.equals(result.trials)


def test_the_score_is_that_of_a_training_without_refit(grid: tuple[Path, SearchResult]) -> None:
    best = grid[1].ranking.iloc[0]
    model = CHMCNNClassifier(DATA.hierarchy, **grid[1].best, refit=False, evaluated=DATA.evaluated, random_state=0).fit(
        DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y)
    )
    assert model.best_score_ == pytest.approx(best["auprc"], abs=1e-6)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (
            {"data": learnable(rows=120, features=6, classes=8, depth=2, seed=1)},
            "a search with other data; choose anot",
        ),
        (
            {"plan": SearchPlan(SPACE, "grid", settings=FIXED, seed=1)},
            "a search with other seed; choose another folder",
        ),
        (
            {"plan": SearchPlan(SPACE, settings={"epochs": 3})},
            "a search with other settings and sampler and pruning; ch",
        ),
    ],
)
def test_a_search_for_something_else_is_refused(
    grid: tuple[Path, SearchResult], other: dict[str, Any], told: str
) -> None:
    options = {"plan": SearchPlan(SPACE, "grid", settings=FIXED)} | other
    with pytest.raises(FileError, match=told):
        run_search(grid[0], **options)


def test_trials_are_the_total_and_a_search_goes_on_to_it(tmp_path: Path) -> None:
    space = {"learning_rate": {"low": 1e-5, "high": 1e-2, "log": True}, "batch_size": {"low": 8, "high": 64}}
    seen: list[search.Progress] = []
    first = run_search(tmp_path, SearchPlan(space, trials=3, settings=FIXED), progress=seen.append)
    assert [each.done for each in seen] == [0, 1, 2, 3, 3]
    assert seen[-1].best == first.ranking["auprc"].iloc[0]
    more = run_search(tmp_path, SearchPlan(space, trials=5, settings=FIXED))
    assert more.trials.head(3).equals(first.trials)
    assert len(more.trials) == more.total == 5
    assert more.trials["learning_rate"].between(1e-5, 1e-2).all()
    assert set(map(type, more.trials["batch_size"].tolist())) == {int}
    other = run_search(tmp_path / "at once", SearchPlan(space, trials=5, settings=FIXED))
    assert points(other) == points(more), "the same seed draws the same"


def test_the_same_settings_are_not_trained_twice(tmp_path: Path) -> None:
    result = run_search(tmp_path, SearchPlan({"dropout": [0.1, 0.5]}, trials=5, settings=FIXED))
    trained = result.trials[result.trials["reason"] == ""]
    assert len(trained) == trained["dropout"].nunique() == result.trials["auprc"].nunique()
    repeated = result.trials[result.trials["reason"] != ""]
    assert len(repeated) >= 3
    assert repeated["reason"].str.match(r"same settings as trial \d").all()


def interrupted(folder: Path, plan: SearchPlan) -> None:
    """A search that is stopped in the middle of its second trial."""
    fit, calls = CHMCNNClassifier.fit, []

    def stop(self: CHMCNNClassifier, *rows: Any, **options: Any) -> CHMCNNClassifier:
        calls.append(self)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return fit(self, *rows, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CHMCNNClassifier, "fit", stop)
        with pytest.raises(KeyboardInterrupt):
            run_search(folder, plan)


def test_a_trial_that_was_interrupted_is_run_again(tmp_path: Path) -> None:
    plan = SearchPlan({"dropout": {"low": 0.1, "high": 0.9}}, trials=3, settings=FIXED)
    interrupted(tmp_path, plan)
    so_far = run_search(tmp_path, plan, jobs=0)
    assert so_far.trials["state"].tolist() == ["finished", "running"]
    assert json.loads((tmp_path / "search" / "best.json").read_text()) == so_far.best
    result = run_search(tmp_path, plan)
    assert result.trials["state"].tolist() == ["finished"] * 3
    assert result.trials["dropout"].tolist()[:2] == so_far.trials["dropout"].tolist(), "the same settings"
    states = [trial.state.name for trial in study(tmp_path).get_trials()]
    assert states == ["COMPLETE", "FAIL", "COMPLETE", "COMPLETE"]


@pytest.mark.parametrize("call", ["tell", "enqueue_trial"])
def test_a_search_that_is_killed_while_it_restarts_a_trial_loses_nothing(
    tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = SearchPlan({"dropout": [0.1, 0.5]}, "grid", settings=FIXED)
    interrupted(tmp_path, plan)
    with monkeypatch.context() as patch:
        patch.setattr(optuna.Study, call, mock.Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run_search(tmp_path, plan)
    result = run_search(tmp_path, plan)
    assert result.trials["state"].tolist() == ["finished"] * 2
    assert sorted(result.trials["dropout"]) == [0.1, 0.5]


def test_all_trials_of_a_command_that_was_killed_are_run_again(tmp_path: Path) -> None:
    plan = SearchPlan({"dropout": [0.1, 0.5, 0.6]}, "grid", settings=FIXED)
    folder = tmp_path / "search"
    folder.mkdir()
    with (
        SearchSpec(Split.without_test(DATA), plan, folder, DATA.name).open_study() as killed,
        suppress(KeyboardInterrupt),
        killed.hold_worker_lock(),
    ):
        assert killed.take()
        assert killed.take()
        raise KeyboardInterrupt
    assert run_search(tmp_path, plan).trials["state"].tolist() == ["finished"] * 3


def test_a_point_of_a_grid_is_kept_if_the_search_is_killed_while_it_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = SearchPlan({"dropout": [0.1, 0.5], "learning_rate": [1e-3, 1e-2]}, "grid", settings=FIXED)
    suggest, calls = optuna.Trial._suggest, []

    def stop(self: optuna.Trial, *given: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:  # one of two values is written down
            raise KeyboardInterrupt
        return suggest(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(optuna.Trial, "_suggest", stop)
        with pytest.raises(KeyboardInterrupt):
            run_search(tmp_path, plan)
    result = run_search(tmp_path, plan)
    assert result.trials["state"].tolist() == ["finished"] * 4
    assert not result.trials["reason"].any(), "no point was drawn twice"


def test_a_trial_of_a_process_that_lives_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = SearchPlan({"dropout": {"low": 0.1, "high": 0.9}}, trials=3, settings=FIXED)
    interrupted(tmp_path, plan)
    (lock,) = [path for path in (tmp_path / "search" / ".locks").iterdir() if path.name != "study.lock"]
    held = filelock.FileLock(lock)
    held.acquire()
    waits: list[list[str]] = []

    def sleep(_seconds: float) -> None:
        waits.append([trial.state.name for trial in study(tmp_path).get_trials()])
        held.release()  # the other process is killed while this one waits for it

    monkeypatch.setattr("chmcnn.search._trials.time.sleep", sleep)
    result = run_search(tmp_path, plan)
    assert waits == [["COMPLETE", "RUNNING", "COMPLETE"]], "what is left is done first"
    assert result.trials["state"].tolist() == ["finished"] * 3


def test_a_trial_that_kills_its_process_each_time_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = SearchPlan({"dropout": [0.1]}, "grid", settings=FIXED)
    monkeypatch.setattr(CHMCNNClassifier, "fit", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            run_search(tmp_path, plan)
    result = run_search(tmp_path, plan)
    assert result.trials["reason"].tolist() == ["the process was killed 5 times; the memory may have been too small"]
    assert result.best == {}


def test_trials_that_kill_all_processes_each_time_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killing(Executor):
        """An executor whose processes are killed in the middle of a trial."""

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            with suppress(KeyboardInterrupt):
                fn(*args, **kwargs)
            future.set_exception(KilledError(-9))
            return future

    monkeypatch.setattr(CHMCNNClassifier, "fit", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    result = run_search(tmp_path, SearchPlan({"dropout": [0.1, 0.5]}, "grid", settings=FIXED), executor=Killing())
    assert (
        result.trials["reason"].tolist() == ["the process was killed 5 times; the memory may have been too small"] * 2
    )


def test_trials_that_no_process_can_read_are_given_up(tmp_path: Path) -> None:
    class Deadly:
        def __reduce__(self) -> tuple[Any, ...]:
            return signal.raise_signal, (signal.SIGKILL,)  # when a process reads what it is given

    plan = SearchPlan({"dropout": [0.1]}, "grid", settings=FIXED, device=untyped(Deadly()))
    result = run_search(tmp_path, plan, jobs=2)
    assert result.trials["reason"].tolist() == ["the process was killed 5 times; the memory may have been too small"]


def test_bad_trials_are_pruned(tmp_path: Path) -> None:
    rates = [0.04, 0.03, 0.02, 0.01, 0.005, 1e-8, 1e-9]  # seed 0 draws the last two last
    settings = {"epochs": 21, "widths": [16], "averaging": 0, "patience": 21}
    trials = run_search(tmp_path, SearchPlan({"learning_rate": rates}, "grid", settings=settings, prune=True)).trials
    assert set(trials["learning_rate"].tail(2)) == {1e-8, 1e-9}
    assert trials["state"].tolist() == ["finished"] * 5 + ["pruned"] * 2
    assert trials["epochs_run"].tolist() == [21] * 5 + [20] * 2
    assert trials["auprc"].isna().tolist() == [False] * 5 + [True] * 2


@pytest.mark.parametrize(
    ("plan", "pruner"),
    [(SearchPlan(), optuna.pruners.MedianPruner), (SearchPlan(sampler="grid"), optuna.pruners.NopPruner)],
)
def test_tpe_prunes_and_a_grid_does_not(tmp_path: Path, plan: SearchPlan, pruner: type) -> None:
    with SearchSpec(Split.without_test(DATA), plan, tmp_path, "mine").open_study() as study:
        assert isinstance(study.study.pruner, pruner)


def test_test_rows_are_not_looked_at(grid: tuple[Path, SearchResult], tmp_path: Path) -> None:
    garbage = Table(np.full_like(DATA.test.X, 1e9), np.ones(DATA.test.Y.shape), DATA.hierarchy)
    data = Dataset(DATA.name, DATA.train, DATA.valid, garbage)
    result = run_search(tmp_path, SearchPlan(SPACE, "grid", settings=FIXED), data=data)
    one, other = (each.trials.set_index(list(SPACE))["auprc"] for each in (grid[1], result))
    assert other.to_numpy() == pytest.approx(one.to_numpy(), abs=1e-6)
    again = run_search(grid[0], SearchPlan(SPACE, "grid", settings=FIXED), data=data)
    assert len(again.trials) == 4, "it is the same search"


def test_a_table_is_validated_on_a_share_of_its_rows(tmp_path: Path) -> None:
    result = run_search(tmp_path, SearchPlan({"dropout": [0.1]}, "grid", settings=FIXED), data=DATA.train, title="mine")
    model = CHMCNNClassifier(DATA.hierarchy, **result.best, random_state=0).fit(DATA.train.X, DATA.train.Y)
    assert result.trials["auprc"].tolist() == pytest.approx([model.best_score_], abs=1e-6)
    assert result.title == "mine"


def test_what_cannot_be_trained_with_fails_and_the_others_go_on(tmp_path: Path) -> None:
    space = {"class_weight": [{"nobody": 2.0}, "balanced"]}
    result = run_search(tmp_path, SearchPlan(space, "grid", settings=FIXED))
    assert sorted(result.trials["state"]) == ["failed", "finished"]
    assert result.trials["reason"].str.contains("Unknown class 'nobody'").sum() == 1
    none = run_search(tmp_path / "none", SearchPlan({"validation": [0]}, "grid", settings=FIXED), data=DATA.train)
    assert "No rows to validate on" in none.trials["reason"].iloc[0]
    assert none.best == {}
    assert not (tmp_path / "none" / "search" / "best.json").exists()

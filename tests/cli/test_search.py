"""search, as a user runs it, and train with what it found."""

import json
import os
import signal
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest
from tests import processes
from tests.cli.inside import run

from chmcnn import CHMCNNClassifier, ChmcnnError
from chmcnn.search import SearchPlan

pytestmark = pytest.mark.usefixtures("one_reading_of_revisions")

TABLE = ("--hierarchy", "edges.csv", "--id-column", "name", "--categorical", "zone", "--quiet")
SPACE = '{"widths": [[8], [16, 16]], "dropout": [0, 0.5], "learning_rate": {"low": 1e-4, "high": 0.1, "log": true}}'
FILES = [".locks", "best.json", "search.html", "search.png", "study.db", "trials.csv"]


@pytest.fixture(scope="module")
def done(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A search that went through, and what it printed."""
    output = tmp_path_factory.mktemp("whole") / "search"
    (folder / "space.json").write_text(SPACE)
    finished = run(*own(output), "--trials", "4", cwd=folder)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    return output, finished.stdout


def own(output: Path) -> tuple[str | Path, ...]:
    return ("search", "my.csv", *TABLE, "--space", "space.json", "--epochs", "3", "-o", output)


def test_it_prints_the_best_and_writes_all(done: tuple[Path, str]) -> None:
    output, printed = done
    for text in ("my.csv: best trials by validation AU(PRC)", "learning", "4 trials of 4: 4 finished.", "best.json"):
        assert text in printed
    assert sorted(path.name for path in output.iterdir()) == FILES
    trials = pd.read_csv(output / "trials.csv")
    assert trials["state"].tolist() == ["finished"] * 4
    page = (output / "search.html").read_text()
    assert "chmcnn search my.csv --hierarchy edges.csv" in page
    assert page.count("data:image/png;base64,") == 2
    assert "http" not in page


def test_training_takes_the_best_setting_and_gets_the_same_score(
    folder: Path, done: tuple[Path, str], tmp_path: Path
) -> None:
    best = done[0] / "best.json"
    trained = run("train", "my.csv", *TABLE, "--config", best, "--json", "-o", tmp_path / "model", cwd=folder)
    assert trained.returncode == 0, trained.stderr
    scores = pd.read_csv(done[0] / "trials.csv")["auprc"]
    told = json.loads(trained.stdout)
    assert told["validation AU(PRC)"] == pytest.approx(scores.max(), abs=1e-6)
    settings = json.loads((tmp_path / "model" / "model.json").read_text())["settings"]
    assert {name: settings[name] for name in json.loads(best.read_text())} == json.loads(best.read_text())


def test_the_same_command_runs_nothing_and_machines_can_read_it(folder: Path, done: tuple[Path, str]) -> None:
    output, printed = done
    before = pd.read_csv(output / "trials.csv")
    assert run(*own(output), "--trials", "4", cwd=folder).stdout == printed
    assert pd.read_csv(output / "trials.csv").equals(before)
    told = json.loads(run(*own(output), "--trials", "3", "--json", cwd=folder).stdout)
    assert told["trials"] == {"total": 3, "finished": 4}
    assert told["best"] == json.loads((output / "best.json").read_text())
    assert told["config"] == str(output / "best.json")


def run_until_killed(words: list[str | Path], cwd: Path) -> None:
    """Run a search in a process that is killed in the middle of its third trial."""
    fit, calls = CHMCNNClassifier.fit, []

    def fit_or_kill(model: CHMCNNClassifier, *rows: object, **options: object) -> CHMCNNClassifier:
        calls.append(model)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return fit(model, *rows, **options)

    with mock.patch.object(CHMCNNClassifier, "fit", fit_or_kill):
        run(*words, cwd=cwd)


def test_after_a_kill_the_same_command_goes_on(folder: Path, done: tuple[Path, str], tmp_path: Path) -> None:
    del done  # it wrote the space
    output = tmp_path / "killed"
    words = [*own(output), "--trials", "4", "--json"]
    process = processes.start(run_until_killed, words, folder)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert (output / "best.json").exists(), "it is there while the search goes on"
    assert not (output / "trials.csv").exists()
    again = run(*words, cwd=folder)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["trials"] == {"total": 4, "finished": 4}


def test_an_interrupt_leaves_what_was_found_so_far(
    folder: Path, done: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, calls = CHMCNNClassifier.fit, []

    def stop(model: CHMCNNClassifier, *rows: object, **options: object) -> CHMCNNClassifier:
        calls.append(model)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fit(model, *rows, **options)

    monkeypatch.setattr(CHMCNNClassifier, "fit", stop)
    stopped = run(*own(tmp_path / "search"), "--trials", "4", cwd=folder)
    assert stopped.returncode == 130
    assert "Run the same command again to resume" in stopped.stderr
    assert sorted(path.name for path in (tmp_path / "search").iterdir()) == FILES
    assert pd.read_csv(tmp_path / "search" / "trials.csv")["state"].tolist() == ["finished", "finished", "running"]
    monkeypatch.undo()
    assert run(*own(tmp_path / "search"), "--trials", "4", cwd=folder).returncode == 0
    assert (tmp_path / "search" / "best.json").read_text() == (done[0] / "best.json").read_text()


def test_a_search_without_any_result_says_why(folder: Path, tmp_path: Path) -> None:
    (folder / "wrong.json").write_text('{"class_weight": [{"nobody": 2}]}')
    words = ("search", "my.csv", *TABLE, "--space", "wrong.json", "--sampler", "grid", "-o", tmp_path / "search")
    failed = run(*words, cwd=folder)
    assert failed.returncode == 2
    assert "No trial has finished: Unknown class 'nobody'." in failed.stderr
    assert f"Delete {tmp_path / 'search'} to start again." in failed.stderr


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (("--preset", "fast"), "--preset is 'fast'"),
        (("--config", "ensemble.json"), "ensemble.json: preset is 'best'"),
        (("--space", "ensembles.json"), "ensembles.json: preset is 'best'"),
    ],
)
def test_an_ensemble_is_refused_at_once(tmp_path: Path, options: tuple[str, ...], place: str) -> None:
    (tmp_path / "ensemble.json").write_text('{"preset": "best"}')
    (tmp_path / "ensembles.json").write_text('{"preset": ["default", "best"]}')
    done = run("search", "digits", *options, "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert f"{place}; expected 'default' or 'paper': best and fast are ensembles, which have no" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--test-share", "--validation-share"])
def test_the_parts_of_a_known_data_set_are_not_chosen(tmp_path: Path, option: str) -> None:
    done = run("search", "digits", option, "0.1", cwd=tmp_path)
    assert done.returncode == 2
    assert f"digits is not a file; {option} is only for a table of your own." in done.stderr


@pytest.mark.parametrize(
    ("options", "pruning"),
    [((), True), (("--no-prune",), False), (("--sampler", "grid"), False), (("--sampler", "grid", "--prune"), True)],
)
def test_a_grid_is_not_pruned_unless_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], pruning: bool
) -> None:
    plans: list[SearchPlan] = []

    def stop(_data: object, plan: SearchPlan, *_: object, **__: object) -> None:
        plans.append(plan)
        raise ChmcnnError("enough")

    monkeypatch.setattr("chmcnn.search.search", stop)
    run("search", "digits", *options, cwd=tmp_path)
    assert [plan.pruning for plan in plans] == [pruning]


def test_help_shows_examples(tmp_path: Path) -> None:
    shown = " ".join(run("search", "--help", cwd=tmp_path).stdout.split())
    assert "chmcnn search cellcycle_FUN -o search/ --trials 50 --jobs 2" in shown
    assert "--config search/best.json" in shown

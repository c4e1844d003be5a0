"""compare, as a user runs it."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from benchmarks.machines import wait_until
from tests import processes
from tests.cli.inside import run, run_to_file

from chmcnn._workers import iterate_completed

TABLE = ("--hierarchy", "edges.csv", "--id-column", "name", "--categorical", "zone")
QUICK = ("--systems", "C-HMCNN,h+", "--option", "all:epochs=2", "--option", "h+:widths=[8]", "--quiet", "--jobs", "2")
OWN = ("compare", "my.csv", *TABLE, *QUICK)


def scores(output: Path) -> list[tuple[Any, ...]]:
    content = json.loads((output / "comparison.json").read_text())
    return [(row["dataset"], row["system"], row["auprc"], row["deviation"]) for row in content["results"]]


def results(output: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (output / "runs").glob("[!.]*.json")}


@pytest.fixture(scope="module")
def done(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A comparison that went through, and what it printed."""
    output = tmp_path_factory.mktemp("whole") / "comparison"
    finished = run(*OWN, "--folds", "3", "-o", output, cwd=folder)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    return output, finished.stdout


def test_it_prints_scores_costs_and_what_was_tested(done: tuple[Path, str]) -> None:
    output, printed = done
    for text in ("C-HMCNN", "h+", " ± ", "MiB", "parameters", "violations", "my.csv", "comparison.html"):
        assert text in printed
    assert "t-test over splits, corrected" in " ".join(printed.split())
    assert sorted(path.name for path in output.iterdir()) == ["comparison.html", "comparison.json", "runs"]
    assert len(results(output)) == 6
    kept = [json.loads(text) for text in results(output).values()]
    assert all(each["command"].startswith("chmcnn compare my.csv --hierarchy edges.csv") for each in kept)
    options = {each["cell"]["system"]: each["cell"]["options"] for each in kept}
    assert options == {"C-HMCNN": {"epochs": 2}, "h+": {"epochs": 2, "widths": [8]}}


def test_the_same_command_again_runs_nothing_and_prints_the_same(folder: Path, done: tuple[Path, str]) -> None:
    output, printed = done
    before = results(output)
    assert run(*OWN, "--folds", "3", "-o", output, cwd=folder).stdout == printed
    assert results(output) == before
    told = json.loads(run(*OWN, "--folds", "3", "--json", "-o", output, cwd=folder).stdout)
    assert told == json.loads((output / "comparison.json").read_text())


def run_until_killed(words: tuple[str | Path, ...], cwd: Path) -> None:
    """Run a comparison in a process that is killed when it has a first result, while the next parts run."""

    def complete_one(*arguments: Any, **options: Any) -> Iterator[Any]:
        completed = iterate_completed(*arguments, **options)
        yield next(completed)
        next(completed)
        os.kill(os.getpid(), signal.SIGKILL)

    with mock.patch("chmcnn.comparison._grid.iterate_completed", complete_one):
        run(*words, cwd=cwd)


def test_after_a_kill_the_same_command_goes_on(folder: Path, done: tuple[Path, str], tmp_path: Path) -> None:
    output = tmp_path / "killed"
    process = processes.start(run_until_killed, (*OWN, "--folds", "3", "-o", output), folder)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    first = results(output)
    assert len(first) == 1
    assert not (output / "comparison.json").exists()
    assert run(*OWN, "--folds", "3", "-o", output, cwd=folder).returncode == 0
    assert results(output).items() >= first.items(), "what was finished is not run again"
    assert scores(output) == scores(done[0])


def test_two_at_once_run_each_part_once(folder: Path, done: tuple[Path, str], tmp_path: Path) -> None:
    output = tmp_path / "shared"
    printed = tmp_path / "printed.json"
    process = processes.start(run_to_file, (*OWN, "--folds", "3", "--json", "-o", output), folder, printed)
    wait_until(lambda: results(output) or not process.is_alive())
    one = run(*OWN, "--folds", "3", "--json", "-o", output, cwd=folder)
    process.join()
    code, other, errors = json.loads(printed.read_text())
    assert (one.returncode, code) == (0, 0), one.stderr + errors
    assert json.loads(one.stdout) == json.loads(other), "also the seconds, which would differ had anything run twice"
    assert scores(output) == scores(done[0])


def test_a_result_that_was_changed_is_told(folder: Path, done: tuple[Path, str], tmp_path: Path) -> None:
    output = tmp_path / "changed"
    (output / "runs").mkdir(parents=True)
    for name, text in results(done[0]).items():
        (output / "runs" / name).write_text(text.replace('"violations_after": 0', '"violations_after": 1'))
    finished = run(*OWN, "--folds", "3", "-o", output, cwd=folder)
    assert finished.returncode == 2
    assert "runs/my.csv-C-HMCNN-fold0of3-" in finished.stderr
    assert "the file was changed after it was written" in finished.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("my.csv", *TABLE, "--systems", "C-HMCN"), "Unknown system 'C-HMCN'. Did you mean 'C-HMCNN'? Systems: "),
        (("my.csv", *TABLE, "--seeds", "0"), "--seeds"),
        (("my.csv", *TABLE, "--folds", "100"), "my.csv has 120 rows, too few for 100 folds"),
        (("my.csv", *TABLE, "--folds", "2", "--seeds", "2"), "--seeds and --folds exclude each other; use one"),
        (("my.csv", *TABLE, "-o", "model"), "model: not the folder of a comparison, so nothing is written to it"),
        (("my.csv", *TABLE, "-o", "my.csv"), "my.csv: the folder is not writable"),
        (("digits", "--option", "epochs=3"), "--option is 'epochs=3'; expected SYSTEM:name=value, such as h+:epochs"),
        (("digits", "--option", "h+:epochs=1O"), "'1O' is not JSON: expected 50, [100, 100] or a word."),
        (("digits", "--option", "f+:epoch=10"), "f+ has no option 'epoch'. Did you mean 'epochs'?"),
        (("digits", "--option", "all:epoch=10"), "--option: none of the compared systems has a parameter 'epoch'."),
        (
            ("digits", "--systems", "h+", "--option", "f+:epochs=10"),
            "Options are set for 'f+', which is not among the systems: h+.",
        ),
        (
            ("digits", "--systems", "best", "--option", "best:network_settings=5"),
            'network_settings is 5; expected settings by name, such as {"epochs": 50}.',
        ),
        (
            ("digits", "--systems", "best", "--option", "best:epoch=3"),
            "best has no option 'epoch'. Did you mean 'epochs'?",
        ),
        (("digits", "--preset", "fast"), "--preset is 'fast', an ensemble, which is a system of its own: name it in"),
        (("digits", "digits"), "Two data sets are called 'digits'"),
        (("digit",), "digits"),
        (("digits", "--hierarchy", "edges.csv"), "digits is not a file; --hierarchy is only for a table of your own."),
    ],
)
def test_bad_input_is_told_before_anything_is_run(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    finished = run("compare", *arguments, "--quiet", *(() if "-o" in arguments else ("-o", "never")), cwd=folder)
    assert finished.returncode == 2
    assert told in finished.stderr
    assert not (folder / "never").exists()


def test_the_preset_is_for_all_systems_that_have_one() -> None:
    from chmcnn.cli.compare import _system_parameters

    parameters = _system_parameters(("C-HMCNN", "h+"), ["h+:preset=default", "all:schedule=cosine"], "paper", print)
    assert parameters == {
        "C-HMCNN": {"preset": "paper", "schedule": "cosine"},
        "h+": {"preset": "default", "schedule": "cosine"},
    }


def test_options_for_all_reach_the_network_of_an_ensemble_and_others_are_named(folder: Path, tmp_path: Path) -> None:
    words = ("my.csv", *TABLE, "--systems", "C-HMCNN,best,Neighbours,fast", "--seeds", "1", "--jobs", "1")
    options = ("--option", "all:epochs=1", "--option", "best:dropout=0.1", "--option", "all:validation=0.3")
    done = run("compare", *words, *options, "-o", tmp_path / "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    notices = [line for line in done.stderr.splitlines() if "--option" in line]
    assert notices == ["--option all:epochs does not reach Neighbours, fast: no such parameter."]
    cells = [json.loads(path.read_text())["cell"] for path in (tmp_path / "out" / "runs").glob("*.json")]
    assert {cell["system"]: cell["options"] for cell in cells} == {
        "C-HMCNN": {"epochs": 1, "validation": 0.3},
        "best": {"network_settings": {"epochs": 1, "dropout": 0.1}, "validation": 0.3},
        "Neighbours": {"validation": 0.3},
        "fast": {"validation": 0.3},
    }


def test_help_shows_examples(tmp_path: Path) -> None:
    assert "chmcnn compare my.csv --hierarchy edges.csv --folds 5" in run("compare", "--help", cwd=tmp_path).stdout


MODULE = """
import numpy as np

class {name}:
    def __init__(self, constant=0.5):
        self.constant = constant
    def fit(self, X, Y):
        self.classes = Y.shape[1]
    def predict_proba(self, X):
        return np.full((len(X), self.classes), self.constant) {broken}

def spread(Y, scores):
    return float(scores.std())
"""


def start_as_module(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``python -m chmcnn``."""
    return processes.run_program("chmcnn", *words, cwd=cwd)


def start_as_command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run as the installed command does: its folder is among the places of modules, and the working folder is not."""
    command = cwd.parent / "chmcnn"
    command.write_text("from chmcnn.cli import main\nif __name__ == '__main__': main()")  # its processes import it
    return processes.run_program(command, *words, cwd=cwd)


@pytest.mark.parametrize("start", [start_as_module, start_as_command])
def test_a_system_of_the_working_folder_is_compared(
    tmp_path: Path, start: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "mine_in_work.py").write_text(MODULE.format(name="Mine", broken=""))
    words = ["compare", "digits", "--systems", "mine_in_work:Mine,Logistic", "--seeds", "1", "--quiet", "--json"]
    words += ["--metric", "auprc", "--metric", "mine_in_work:spread", "--metric", "precision@3", "-o", "out"]
    words += ["--option", "Mine:constant=0.25", "--option", "Logistic:epochs=1", "--jobs", "2"]
    done = start(*words, cwd=tmp_path / "work")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [row["system"] for row in told["results"]] == ["Mine", "Logistic"]
    assert [each["name"] for each in told["measures"]] == ["auprc", "spread", "precision@3"]
    assert told["results"][0]["spread"] == 0 < told["results"][1]["spread"]
    assert "reason" not in told["results"][0]
    (path,) = (tmp_path / "work" / "out" / "runs").glob("digits-Mine-*")
    cell = json.loads(path.read_text())["cell"]
    assert (cell["own"], cell["options"]) == ("mine_in_work:Mine", {"constant": 0.25})


def test_options_of_a_system_of_the_user_may_be_set_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "mine_by_path.py").write_text(MODULE.format(name="Mine", broken="[:, 0]"))
    systems = ("--systems", "mine_by_path:Mine,Logistic", "--option", "all:epochs=1", "--seeds", "1", "--jobs", "1")
    option = ("--option", "mine_by_path:Mine:constant=0.25", "--quiet")
    done = run("compare", "digits", *systems, *option, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = " ".join(done.stdout.split())
    assert "Mine has no result on digits: Mine returns scores of shape (500,); expected (500, 19)," in printed
    (path,) = (tmp_path / "out" / "runs").glob("digits-Mine-*")
    assert json.loads(path.read_text())["cell"]["options"] == {"constant": 0.25}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--systems", "C-HMCNN,none_such:Mine"),
            "'none_such:Mine': there is no module 'none_such', neither installed",
        ),
        (("--systems", "sklearn.neighbors:KNeighbours"), "has no 'KNeighbours'. Did you mean"),
        (("--systems", "pathlib:Path"), "'pathlib:Path' is no system"),
        (("--systems", "h+", "--metric", "fmaxx"), "Unknown measure 'fmaxx'. Did you mean 'fmax'? Measures: auprc"),
        (("--systems", "h+", "--metric", "fmax", "--metric", "fmax"), "Measure 'fmax' is listed twice"),
        (("--systems", "h+", "--metric", "precision@50"), "precision@50 is not defined on the test rows of digits"),
        (("--systems", "h+", "--metric", "math:sqrt"), "'math:sqrt' has the parameters x; expected the true labels"),
    ],
)
def test_unknown_systems_and_measures_are_told_before_anything_is_run(
    tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    finished = run("compare", "digits", *arguments, "--quiet", "-o", "never", cwd=tmp_path)
    assert finished.returncode == 2
    assert told in finished.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_system_and_measure(tmp_path: Path) -> None:
    from chmcnn.baselines import SYSTEMS
    from chmcnn.metrics import MEASURES

    shown = " ".join(run("compare", "--help", cwd=tmp_path).stdout.replace("│", " ").split())
    assert all(name in shown for name in (*SYSTEMS, *MEASURES, "precision@k", "recall@k"))

"""reproduce, as a user runs it; data sets are small ones of other data."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from benchmarks.machines import wait_until
from tests import processes
from tests.cli.inside import run
from tests.cli.small import PATCHES, run_small
from tests.results import write_runs

from chmcnn.experiments import published, recipes
from chmcnn.experiments.table4 import _measure


@pytest.fixture
def small() -> Iterator[None]:
    with mock.patch.multiple(recipes, **PATCHES):
        yield


def test_the_published_statistics_are_shown_and_drawn(tmp_path: Path) -> None:
    done = run("reproduce", "significance", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for text in ("4.26e-15", "1.364", "6.01e-03", "chmcnn reproduce significance", "ranks-published.png"):
        assert text in done.stdout
    assert (tmp_path / "out/significance/ranks-published.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads(run("reproduce", "significance", "--json", cwd=tmp_path).stdout)
    assert all(check["agrees"] for check in told["checks"])


def test_a_figure_is_run_once_and_shown_again(tmp_path: Path) -> None:
    first = run("reproduce", "figure1", "--epochs", "20", "-o", "out", "--quiet", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stderr == ""
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "out/figure1").glob("*.json")}
    again = run("reproduce", "figure1", "--epochs", "20", "-o", "out", "--quiet", cwd=tmp_path)
    assert again.stdout == first.stdout
    assert kept == {path: path.stat().st_mtime_ns for path in (tmp_path / "out/figure1").glob("*.json")}
    assert len(list((tmp_path / "out/figure1").glob("*.png"))) >= 2


@pytest.mark.parametrize(("name", "files"), [("figure2", 9), ("nine-rectangles", 2)])
def test_the_other_synthetic_experiments_are_run_and_drawn(tmp_path: Path, name: str, files: int) -> None:
    done = run("reproduce", name, "--epochs", "2", "--runs", "2", "-o", "out", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert f"Made by: chmcnn reproduce {name}" in done.stdout
    assert len(list((tmp_path / "out" / name).glob("*.json"))) == files
    assert list((tmp_path / "out" / name).glob("*.png"))


@pytest.mark.parametrize(
    ("name", "title"), [("table1", "Table 1: the data sets"), ("table4", "Table 4: time of infer")]
)
def test_tables_of_files_tell_what_is_left_out(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, title: str
) -> None:
    monkeypatch.setattr(_measure, "BATCHES", (4,))
    monkeypatch.setattr(_measure, "_CALLS", 1)
    done = run("reproduce", name, "--datasets", "spo_FUN,expr_FUN", "--data-dir", data, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "No result for expr_FUN: expr_FUN.train.arff could not be downloaded" in done.stderr
    assert "Without spo_FUN" not in done.stderr
    assert title in done.stdout
    assert [path.name for path in (tmp_path / "results" / name).glob("*.json")] == ["spo_FUN.json"]


def test_times_that_were_measured_before_are_not_taken_for_those_of_this_machine(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_measure, "BATCHES", (4,))
    monkeypatch.setattr(_measure, "_CALLS", 1)
    monkeypatch.setattr(_measure, "processor", lambda: "Quick 9000")
    options = ("reproduce", "table4", "--datasets", "spo_FUN", "--data-dir", data)
    first = run(*options, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "measured now" not in first.stderr
    again = run(*options, cwd=tmp_path)
    assert "Nothing to measure: results/table4 has all times already" in again.stderr
    assert "one thread of Quick 9000" in " ".join(again.stdout.split())
    assert run(*options, "--quiet", cwd=tmp_path).stderr == ""


@pytest.mark.parametrize("name", ["table1", "table4"])
def test_no_file_at_all_is_an_error_with_a_way_out(data: Path, tmp_path: Path, name: str) -> None:
    done = run("reproduce", name, "--datasets", "expr_FUN", "--data-dir", data, cwd=tmp_path)
    assert done.returncode == 2
    assert (
        f"There are no results of {name} in results/{name}: expr_FUN.train.arff could not be downloaded" in done.stderr
    )
    assert "Without a network, " in done.stderr
    assert run("reproduce", name, "--datasets", ",", cwd=tmp_path).stderr.startswith(
        "chmcnn: --datasets is ','; expected"
    )


@pytest.mark.usefixtures("small")
def test_table2_in_two_goes_is_the_same_as_in_one(tmp_path: Path) -> None:
    options = ("--datasets", "spo_FUN,expr_FUN,enron", "--recipe", "paper", "--jobs", "1")
    assert run("reproduce", "table2", *options, "--seeds", "1", "-o", "two", "--quiet", cwd=tmp_path).returncode == 0
    two = run("reproduce", "table2", *options, "--seeds", "2", "-o", "two", "--json", cwd=tmp_path)
    one = run("reproduce", "table2", *options, "--seeds", "2", "-o", "one", "--json", cwd=tmp_path)
    assert one.returncode == 0, one.stderr
    told, expected = json.loads(two.stdout), json.loads(one.stdout)
    assert told["tables"] == expected["tables"]
    assert told["checks"] == expected["checks"]
    assert "Skipping expr_FUN: it is not here." in one.stderr
    assert [row[0] for row in json.loads(one.stdout)["tables"][0]["rows"]] == ["spo_FUN", "enron"]
    assert len(list((tmp_path / "two/table2/runs").glob("*.json"))) == 4


@pytest.mark.usefixtures("small")
def test_table2_killed_at_random_is_the_same_as_in_one_go(tmp_path: Path) -> None:
    words = ("reproduce", "table2", "--datasets", "spo_FUN,enron", "--recipe", "paper", "--seeds", "3", "--jobs", "2")
    for wanted in (1, 3):
        process = processes.start(run_small, (*words, "--quiet", "-o", "killed"), tmp_path)
        wait_until(lambda: not process.is_alive() or _kept(tmp_path / "killed") >= wanted)  # noqa: B023 -- at once
        time.sleep(np.random.default_rng().uniform(0, 0.5))  # so that any step may be interrupted
        process.kill()  # its processes end with it
        process.join()
        assert process.exitcode in {0, -signal.SIGKILL}
    killed = run(*words, "--json", "-o", "killed", cwd=tmp_path)
    whole = run(*words, "--json", "-o", "whole", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    assert _kept(tmp_path / "killed") == _kept(tmp_path / "whole") == 6
    told, expected = json.loads(killed.stdout), json.loads(whole.stdout)
    assert told["tables"] == expected["tables"]
    assert told["checks"] == expected["checks"]


def _kept(folder: Path) -> int:
    return len(list((folder / "table2/runs").glob("[!.]*.json")))


@pytest.mark.usefixtures("small")
def test_table3_compares_the_three_systems(tmp_path: Path) -> None:
    done = run("reproduce", "table3", "--datasets", "spo_FUN", "--jobs", "1", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for text in ("h+MCM", "order of the means over 1 data set,", "Epochs"):
        assert text in " ".join(done.stdout.split())


def test_the_page_has_all_results_that_are_there_and_names_the_others(tmp_path: Path) -> None:
    scores = {str(name): [value] for name, value in published.auprc()["C-HMCNN"].items()}
    write_runs(tmp_path / "out/table2/runs", scores)
    done = run("reproduce", "all", "-o", "out", "--page", "paper.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "8 of 8 comparisons agree with the paper, 1 of 1 goals is reached." in done.stdout
    assert "No results: figure1. Run: chmcnn reproduce figure1" in done.stdout
    page = (tmp_path / "paper.html").read_text()
    assert "AU(PRC) on 20 data sets" in page
    assert "chmcnn reproduce nine-rectangles" in page
    told = json.loads(run("reproduce", "all", "-o", "out", "--json", cwd=tmp_path).stdout)
    assert list(told) == ["table2", "significance"]


def test_a_result_that_was_edited_is_noticed(tmp_path: Path) -> None:
    write_runs(tmp_path / "results/table2/runs", {"enron": [0.7]})
    (path,) = (tmp_path / "results/table2/runs").glob("*.json")
    path.write_text(path.read_text().replace("0.7", "0.8"))
    done = run("reproduce", "all", cwd=tmp_path)
    assert done.returncode == 2
    assert f"{path.name}: the file was changed after it was written" in done.stderr
    assert not (tmp_path / "results/reproduction.html").exists()


def test_an_unknown_data_set_gets_the_nearest_name(tmp_path: Path) -> None:
    done = run("reproduce", "table2", "--datasets", "enrom", cwd=tmp_path)
    assert done.returncode == 2
    assert "Did you mean 'enron'?" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_has_examples_of_each_experiment(tmp_path: Path) -> None:
    names = run("reproduce", "--help", cwd=tmp_path).stdout
    for name in (
        "figure1",
        "figure2",
        "nine-rectangles",
        "table1",
        "table2",
        "table3",
        "table4",
        "significance",
        "all",
    ):
        assert name in names
        assert f"chmcnn reproduce {name}" in run("reproduce", name, "--help", cwd=tmp_path).stdout

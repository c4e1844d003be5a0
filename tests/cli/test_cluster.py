"""--cluster: the same results, from elsewhere."""

from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pytest
from tests.cli.inside import run
from tests.cli.small import PATCHES
from tests.packed import PackedExecutor

from chmcnn.experiments import recipes

TABLE = ("--hierarchy", "edges.csv", "--id-column", "name", "--categorical", "zone")
CLUSTER = ("--cluster", "tcp://packed:8786")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[PackedExecutor]:
    """The clusters that a command has connected to."""
    found: list[PackedExecutor] = []

    def connect(*arguments: Any, **options: Any) -> PackedExecutor:
        found.append(PackedExecutor(*arguments, **options))
        return found[-1]

    monkeypatch.setattr("chmcnn.cluster.ClusterExecutor", connect)
    return found


def test_a_comparison(folder: Path, tmp_path: Path, opened: list[PackedExecutor]) -> None:
    words = ("compare", "my.csv", *TABLE, "--systems", "h+", "--option", "h+:epochs=2", "--seeds", "2")
    done = run(*words, *CLUSTER, "-o", tmp_path / "comparison", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "The cluster at tcp://packed:8786 executes 1 run at once." in done.stderr
    assert opened[0].calls == len(list((tmp_path / "comparison" / "runs").glob("*.json"))) == 2


def test_a_search(folder: Path, tmp_path: Path, opened: list[PackedExecutor]) -> None:
    (tmp_path / "space.json").write_text('{"dropout": [0.1, 0.5]}')
    options = ("--space", tmp_path / "space.json", "--sampler", "grid", "--epochs", "2", "--quiet")
    done = run("search", "my.csv", *TABLE, *options, *CLUSTER, "-o", tmp_path / "search", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert opened[0].calls == len(pd.read_csv(tmp_path / "search" / "trials.csv")) == 2


@pytest.mark.parametrize(("table", "runs"), [("table2", 1), ("table3", 3)])
def test_a_reproduction(table: str, runs: int, tmp_path: Path, opened: list[PackedExecutor]) -> None:
    with mock.patch.multiple(recipes, **PATCHES):
        words = ("reproduce", table, "--datasets", "spo_FUN", "--seeds", "1", "-o", tmp_path, "--quiet")
        done = run(*words, *CLUSTER, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert opened[0].calls == runs


def test_without_dask_it_is_told_what_to_install(tmp_path: Path) -> None:
    with mock.patch.dict("sys.modules", {"distributed": None}):
        done = run("compare", "digits", "--systems", "h+", *CLUSTER, "-o", tmp_path / "c", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, 'chmcnn: A cluster needs Dask: pip install "chmcnn[cluster]".\n')
    assert not (tmp_path / "c").exists()

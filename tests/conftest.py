import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
import torch
from benchmarks import shapes

from chmcnn import Hierarchy
from chmcnn.comparison import PRELOAD
from chmcnn.constraint import _delegates

# The first test that starts a process decides what the server of processes has imported for all others.
if "forkserver" in multiprocessing.get_all_start_methods():
    multiprocessing.get_context("forkserver").set_forkserver_preload(list(PRELOAD))

_HEAD = """@RELATION small
@ATTRIBUTE size numeric
@ATTRIBUTE colour {red,blue}
@ATTRIBUTE class hierarchical a/b,c
@DATA
"""
_ROWS = {
    "datasets_FUN/spo_FUN/spo_FUN.train": 10,
    "datasets_FUN/spo_FUN/spo_FUN.valid": 5,
    "datasets_FUN/spo_FUN/spo_FUN.test": 4,
    "others/Enron_corr_trainvalid": 10,
    "others/Enron_corr_test": 4,
}


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk() -> Iterator[None]:
    with mock.patch.object(os, "fsync"):
        yield


@pytest.fixture(autouse=True)
def _same_random_numbers_every_time() -> None:
    torch.manual_seed(0)


@pytest.fixture(params=["compiled", "torch"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test on the compiled loop, and on torch alone."""
    if request.param == "torch":
        monkeypatch.setattr("chmcnn.constraint._delegates._kernel", None)
    else:
        assert _delegates.is_compiled(), "numba is one of the development dependencies"
    return str(request.param)


@pytest.fixture(scope="session")
def gene_ontology() -> Hierarchy:
    """The hierarchy of cellcycle_GO, where the benchmark's files are at hand."""
    hierarchy, origin = shapes.load("GO")
    if origin != "real":
        pytest.skip("the files of the benchmark are not there")
    return hierarchy


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small files in place of two of the benchmark's data sets; others cannot be had."""
    monkeypatch.setattr("chmcnn.datasets.download.is_verified", lambda path, _file: path.is_file())
    monkeypatch.setenv("CHMCNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHMCNN_MIRROR", "http://127.0.0.1:9")
    for name, rows in _ROWS.items():
        path = tmp_path / "data" / f"{name}.arff"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_HEAD + "1,red,a/b\n2,blue,c\n" * (rows // 2) + "3,?,a\n" * (rows % 2), encoding="utf-8")
    return tmp_path / "data"

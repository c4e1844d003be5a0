"""What all tests share. Heavy imports are in functions: the process that hands the tests out to others needs none."""

from __future__ import annotations

import functools
import gc
import multiprocessing
import os
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from chmcnn import Hierarchy

# The same examples every time, however busy the machine is; --hypothesis-profile=chance draws others.
_ANY_MACHINE = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.register_profile("chance", _ANY_MACHINE)
settings.register_profile("tests", _ANY_MACHINE, derandomize=True)
settings.load_profile("tests")

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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Import modules and collect tests without looking for garbage, and leave what is there out of every later look."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collectstart() -> None:
    """Import what is tested before any test: where pickles find a function depends on the order of imports."""
    import chmcnn.comparison  # noqa: F401


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    """Choose what the server of processes has imported, before any test starts it for all others."""
    from chmcnn.comparison import PRELOAD

    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.get_context("forkserver").set_forkserver_preload(list(PRELOAD))
    if "PYTEST_XDIST_WORKER" in os.environ:
        with FileLock(config.cache.mkdir("compiling") / "lock"):
            _compile_loops()


def _compile_loops() -> None:
    """Compile the loops where they are not in their cache: one process does it, and the others do not do it as well."""
    import torch

    from chmcnn import Hierarchy
    from chmcnn.constraint import max_constraint, mc_loss

    hierarchy = Hierarchy.from_edges([("a", "b")])
    logits = torch.zeros(1, 2, requires_grad=True)
    mc_loss(logits, torch.zeros(1, 2), hierarchy).backward()
    max_constraint(logits, hierarchy)
    with torch.inference_mode():
        max_constraint(logits, hierarchy)


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk() -> Iterator[None]:
    with mock.patch.object(os, "fsync"):
        yield


@pytest.fixture(autouse=True)
def _same_random_numbers_every_time() -> None:
    from chmcnn.training import seed_torch

    seed_torch(0)


@pytest.fixture(scope="session")
def one_table_of_operators() -> Iterator[None]:
    """Let torch read its tables of operators once, and not in each export, where this takes much of the time."""
    from torch._export import utils
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    read_once = staticmethod(functools.cache(ONNXRegistry.from_torchlib))
    with (
        mock.patch.object(ONNXRegistry, "from_torchlib", read_once),
        mock.patch.object(utils, "_materialize_cpp_cia_ops", functools.cache(utils._materialize_cpp_cia_ops)),
    ):
        yield


@pytest.fixture(scope="session")
def one_reading_of_revisions() -> Iterator[None]:
    """Let Optuna read the history of its tables once, and not twice for each search."""
    from optuna.storages._rdb.storage import _VersionManager

    read = _VersionManager._create_alembic_script
    script: list[Any] = []

    def read_once(manager: _VersionManager) -> Any:
        if not script:
            script.append(read(manager))
        return script[0]

    with mock.patch.object(_VersionManager, "_create_alembic_script", read_once):
        yield


@pytest.fixture(params=["compiled", "torch"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test on the compiled loop, and on torch alone."""
    from chmcnn.constraint import _delegates

    if request.param == "torch":
        monkeypatch.setattr("chmcnn.constraint._delegates._kernel", None)
    else:
        assert _delegates.is_compiled(), "numba is one of the development dependencies"
    return str(request.param)


@pytest.fixture(scope="session")
def gene_ontology() -> Hierarchy:
    """The hierarchy of cellcycle_GO, where the benchmark's files are at hand."""
    from benchmarks import shapes

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

"""Runs on a Dask cluster: a scheduler and two workers of this machine, each with a folder of its own."""

import os
import pickle
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.machines import Machines, wait_until

from chmcnn import ChmcnnError, cluster
from chmcnn._workers import InlineExecutor, KilledError
from chmcnn.cluster import ClusterError, ClusterExecutor, WorkersKilledError, _call_packed
from chmcnn.comparison import Comparison, Execution, Plan, Source, compare
from chmcnn.datasets.synthetic import learnable
from chmcnn.search import SearchPlan, search
from tests.search.searching import DATA, FIXED, SPACE

WAITING = """
import multiprocessing
import time
from pathlib import Path
from chmcnn import CHMCNNClassifier


class Waiting(CHMCNNClassifier):
    name = "waiting"

    def __init__(self, hierarchy=None, *, folder="", **options):
        super().__init__(hierarchy, epochs=2, widths=(8,), **options)
        self.folder = folder

    def fit(self, X, y, **options):
        parent = multiprocessing.parent_process()
        Path(self.folder, f"{parent.pid if parent else 0}-{time.monotonic_ns()}").touch()
        for _ in range(6000):
            if Path(self.folder, "go").exists():
                return super().fit(X, y, **options)
            time.sleep(0.05)
        raise TimeoutError
"""


TOUCHING = "import pathlib, time\nfor _ in range(9999): pathlib.Path({!r}).touch(); time.sleep(0.05)"


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with Machines(tmp_path_factory.mktemp("machines")) as started:
        started.add_worker()
        started.add_worker("--no-nanny")
        yield started


@pytest.fixture
def executor(machines: Machines) -> Iterator[ClusterExecutor]:
    with ClusterExecutor(machines.address) as opened:
        wait_until(lambda: opened.count_threads() == sum(process.poll() is None for process in machines.workers))
        yield opened


def test_each_call_has_a_process_of_its_own_in_the_folder_of_its_worker(
    machines: Machines, executor: ClusterExecutor
) -> None:
    places = {future.result(300) for future in [executor.submit(os.getcwd) for _ in range(8)]}
    assert places == {str(machines.folder / name) for name in ("worker0", "worker1")}
    assert len({executor.submit(os.getpid).result(300) for _ in range(2)}) == 2
    large = np.ones(100_000)
    assert executor.submit(np.multiply, large, 2).result(300).sum() == 200_000
    assert isinstance(executor.submit(int, "one").exception(300), ValueError)
    killed: Any = executor.submit(os._exit, 7)
    assert str(killed.exception(300)) == "the process ended with code 7"


@pytest.mark.parametrize(("told", "threads"), [({}, 1), ({"OMP_NUM_THREADS": "2"}, 2)])
def test_a_call_has_one_thread_unless_the_worker_was_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, told: dict[str, str], threads: int
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        answer = pickle.loads(_call_packed(pickle.dumps(torch.get_num_threads), {}, ()))  # noqa: S301 -- its own
    finally:
        torch.set_num_threads(before)
    assert answer == (True, threads)


def test_what_cannot_be_sent_is_refused_at_once(executor: ClusterExecutor, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"This cannot be sent to the workers of a cluster: Can't pickle .*lambda"):
        executor.submit(lambda: 1)
    with pytest.raises(ClusterError, match="__main__:Mine is defined in the program itself, or in a notebook"):
        executor.send_code(["__main__:Mine"])
    with pytest.raises(ClusterError, match=r"tests.results:Mine is in a package that is not installed"):
        executor.send_code(["sklearn.svm:SVC", "tests.results:Mine"])
    plan = Plan((type("Mine", (DummySystem,), {"__module__": "__main__"}),), seeds=1)
    with pytest.raises(ClusterError, match="__main__:Mine is defined in the program itself"):
        compare([Source("mine", TABLE)], plan, tmp_path, Execution(executor=executor))
    assert list(tmp_path.iterdir()) == []


class DummySystem:
    version = "1"

    def fit(self, X: Any, y: Any) -> None: ...

    def predict_proba(self, X: Any) -> Any: ...


TABLE = learnable(rows=120, features=5, classes=10, depth=3)


def test_a_worker_with_other_versions_is_refused_by_name(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    here = cluster.find_versions()
    monkeypatch.setattr(cluster, "find_versions", lambda: here)  # a function that workers do not have
    monkeypatch.setattr(ClusterExecutor, "_ask_versions", lambda _: {"tcp://one:1": {**here, "torch": "1.0"}})
    told = f"The worker tcp://one:1 has torch 1.0, but this machine has torch {here['torch']}. Results must not"
    with pytest.raises(ClusterError, match=told.replace("+", r"\+")):
        ClusterExecutor(machines.address)
    monkeypatch.setattr(ClusterExecutor, "_ask_versions", lambda _: {"tcp://one:1": ModuleNotFoundError("chmcnn")})
    with pytest.raises(ClusterError, match="The worker tcp://one:1 has no chmcnn; install chmcnn "):
        ClusterExecutor(machines.address)


def test_an_address_where_nobody_answers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_SECONDS", 0.2)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(ClusterError, match=f"No Dask scheduler answers at {address} .*Check the address"):
            ClusterExecutor(address)


def test_the_workers_that_all_died_are_no_error_of_the_cluster() -> None:
    error = WorkersKilledError()
    assert isinstance(error, KilledError)
    assert str(error) == "every worker that began it died; the memory may have been too small"


def test_a_call_that_nobody_waits_for_ends(machines: Machines, tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    with ClusterExecutor(machines.address) as opened:
        opened.submit(exec, TOUCHING.format(str(mark)))
        wait_until(mark.exists)

    def has_ended() -> bool:
        mark.unlink(missing_ok=True)
        time.sleep(0.5)
        return not mark.exists()

    wait_until(has_ended)


def run_comparison(folder: Path, plan: Plan, executor: Any, seen: list[bool] | None = None) -> Comparison:
    flags = [] if seen is None else seen
    execution = Execution(executor=executor, progress=lambda _, fresh: flags.append(fresh))
    return compare([Source("mine", TABLE)], plan, folder, execution)


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Plan, Path]:
    """A system of a module that only this process has, whose runs wait for a file; and the folder of that file."""
    (tmp_path / "waiting_system.py").write_text(WAITING)
    monkeypatch.syspath_prepend(str(tmp_path))
    begun = tmp_path / "begun"
    begun.mkdir()
    plan = Plan(("waiting_system:Waiting",), seeds=4, options={"waiting": {"folder": str(begun)}})
    return plan, begun


def test_a_worker_that_dies_has_its_run_done_by_another(
    machines: Machines, executor: ClusterExecutor, waiting: tuple[Plan, Path], tmp_path: Path
) -> None:
    plan, begun = waiting
    victim = machines.workers[1]

    def kill() -> None:
        wait_until(lambda: list(begun.glob(f"{victim.pid}-*")))
        victim.kill()
        victim.wait()
        (begun / "go").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    result = run_comparison(tmp_path / "cluster", plan, executor)
    killer.join()
    expected = run_comparison(tmp_path / "here", plan, InlineExecutor())
    assert result.means.to_numpy() == pytest.approx(expected.means.to_numpy(), abs=1e-9)
    assert len(result.runs) == 4
    names = [sorted(path.name for path in (tmp_path / place / "runs").glob("*.json")) for place in ("cluster", "here")]
    assert names[0] == names[1]
    assert len([path for path in begun.iterdir() if path.name != "go"]) == 4 + 1 + 4, "one began twice"


def test_a_search_asks_and_tells_here(executor: ClusterExecutor, tmp_path: Path) -> None:
    plan = SearchPlan({"learning_rate": SPACE["learning_rate"]}, "grid", settings=FIXED)
    found = search(DATA, plan, tmp_path / "cluster", executor=executor)
    here = search(DATA, plan, tmp_path / "here")
    one, other = (result.trials.set_index("learning_rate")["auprc"].sort_index() for result in (found, here))
    assert one.to_numpy() == pytest.approx(other.to_numpy(), abs=1e-6)
    assert found.best == here.best


def test_when_the_scheduler_dies_what_is_finished_is_kept(
    machines: Machines, waiting: tuple[Plan, Path], tmp_path: Path
) -> None:
    plan, begun = waiting
    (begun / "go").touch()

    def kill(*_: object, **__: object) -> None:
        machines.scheduler.kill()

    with ClusterExecutor(machines.address) as executor:
        told = f"The connection to the Dask scheduler at {machines.address} is lost. What is finished is kept: run the"
        with pytest.raises(ChmcnnError, match=told):
            compare([Source("mine", TABLE)], plan, tmp_path / "runs", Execution(progress=kill, executor=executor))
    seen: list[bool] = []
    run_comparison(tmp_path / "runs", plan, InlineExecutor(), seen)
    assert sorted(seen) in ([False, True, True, True], [False, False, True, True])

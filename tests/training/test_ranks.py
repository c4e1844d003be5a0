"""Several processes train as one does: `tests.training.together` has what they do."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests import processes
from tests.training import together
from tests.training.together import KINDS, SETTINGS

from chmcnn import CHMCNNClassifier, ChmcnnError
from chmcnn._workers import Place, find_place, open_workers
from chmcnn.metrics import auprc, divided_auprc
from chmcnn.training import Ranks, join

TOGETHER = [(2, kind) for kind in KINDS] + [(3, "rows"), (3, "dataset")]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[dict[str, Any]]]:
    """What each of two processes sees, and each of three."""
    folder = tmp_path_factory.mktemp("together")
    for name in ("files", "one"):
        (folder / name).mkdir()
    together.write_files(folder / "files")
    (folder / "files" / "part2.parquet").rename(folder / "one" / "part.parquet")
    started = [processes.start(together.run_all, rank, size, folder) for size in (2, 3) for rank in range(size)]
    for process in started:
        process.join()
    assert [process.exitcode for process in started] == [0] * 5
    found = {
        size: [torch.load(folder / f"{size}-{rank}.pt", weights_only=False) for rank in range(size)] for size in (2, 3)
    }
    found[0] = [{"model": CHMCNNClassifier.load(folder / "model")}]
    return found


@pytest.fixture(scope="module")
def alone() -> dict[str, dict[str, Any]]:
    """The same trainings by one process."""
    return {kind: together.run(kind) for kind in KINDS}


@pytest.mark.parametrize(("size", "kind"), TOGETHER)
def test_processes_train_as_one_does(
    size: int, kind: str, results: dict[int, list[dict[str, Any]]], alone: dict[str, dict[str, Any]]
) -> None:
    for process in results[size]:
        compare(process[kind], alone[kind])


@pytest.mark.parametrize("case", ["sharded", "stopped", "stopped in the refit"])
def test_a_network_that_is_divided_trains_as_a_whole_one_does(
    case: str, results: dict[int, list[dict[str, Any]]], alone: dict[str, dict[str, Any]]
) -> None:
    for process in results[2]:
        compare(process[case], alone["rows"])


def compare(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found["epochs"] == expected["epochs"]
    assert found["best"][0] == expected["best"][0]
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=1e-5)
    np.testing.assert_allclose(found["scores"], expected["scores"], atol=1e-4)
    torch.testing.assert_close(found["weights"], expected["weights"], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found["best"][1], expected["best"][1], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("size", "kind"), TOGETHER)
def test_no_row_is_lost_or_comes_twice(
    size: int, kind: str, results: dict[int, list[dict[str, Any]]], alone: dict[str, dict[str, Any]]
) -> None:
    each = [process[kind]["seen"] for process in results[size]]
    assert {len(epochs) for epochs in each} == {len(alone[kind]["seen"])}
    for *shares, whole in zip(*each, alone[kind]["seen"], strict=True):
        assert sorted(chain(*shares)) == sorted(whole)
        assert max(map(len, shares)) - min(map(len, shares)) <= -(-len(whole) // SETTINGS.batch_size)


@pytest.mark.parametrize("size", [2, 3])
def test_row_groups_are_divided_without_loss_or_repetition(
    size: int, results: dict[int, list[dict[str, Any]]], tmp_path: Path
) -> None:
    together.write_files(tmp_path)
    (tmp_path / "part2.parquet").unlink()
    for *shares, whole in zip(
        *(process["row groups"] for process in results[size]), together.fit_row_groups(tmp_path), strict=True
    ):
        assert sorted(chain(*shares)) == sorted(whole)
        assert all(shares)


def test_all_processes_have_the_same_network_with_dropout_too_and_again_with_the_same_seed(
    results: dict[int, list[dict[str, Any]]],
) -> None:
    (first, again), other = results[2][0]["dropout"], results[2][1]["dropout"][0]
    for trained in (again, other):
        assert trained["losses"] == first["losses"]
        torch.testing.assert_close(trained["weights"], first["weights"], atol=0, rtol=0)


def test_a_seed_by_chance_is_that_of_the_first_process_and_all_learn_the_same(
    results: dict[int, list[dict[str, Any]]],
) -> None:
    first, second = (process["by chance"] for process in results[2])
    assert first["seed"] == second["seed"]
    assert repr(first["history"]) == repr(second["history"])  # scores of a refit are NaN
    for name in ("scores", "thresholds", "risks", "calibration"):
        np.testing.assert_equal(first[name], second[name])
    np.testing.assert_allclose(results[0][0]["model"].predict_proba(together.DATA.test.X), first["scores"], atol=1e-6)


@pytest.mark.parametrize(
    ("case", "messages"),
    [
        ("other rows", ["Processes 1 and 2 have other training rows. Pass the same", "Processes 2 and 1 have other"]),
        ("few rows", ["There are 2 processes, but the training data has 1 row: start fewer processes."] * 2),
        ("small batches", ["There are 2 processes, but the batch has 1 row: start fewer processes."] * 2),
        ("divided twice", ["The DataLoader has a DistributedSampler: leave it out"] * 2),
        (
            "divided before",
            ["Processes 1 and 2 have other first batches.", "Processes 2 and 1 have other first batches."],
        ),
        ("sparse gradients", ["sharded=True is not for the network for sparse features"] * 2),
        ("few groups", ["There are 2 processes, but the files have 1 row group: write them with smaller"] * 2),
        ("first fails", ["Process 1 fails."] * 2),
    ],
)
def test_what_cannot_be_divided_is_refused_by_all(
    case: str, messages: list[str], results: dict[int, list[dict[str, Any]]]
) -> None:
    for process, message in zip(results[2], messages, strict=True):
        assert message in process["errors"][case]


def test_the_parts_of_a_measure_add_up_to_that_of_all_rows() -> None:
    random = np.random.default_rng(0)
    scores = random.integers(0, 9, (31, 5)) / 8  # with ties, also between the parts
    labels = random.random((31, 5)) < 0.3
    parts = [slice(0, 4), slice(4, 31)]
    joined = np.concatenate([scores[part][labels[part]] for part in parts])
    for part, other in (parts, parts[::-1]):
        answers = iter([np.array([scores.size]), None])

        def add(values: Any, other: slice = other, answers: Any = answers) -> Any:
            known = next(answers)
            thresholds = np.unique(joined)
            under = (scores[other].ravel() < thresholds[:, None]).sum(axis=1)
            return values + under if known is None else known

        found = divided_auprc(labels[part], scores[part], join=lambda _: joined, add=add)
        assert found == auprc(labels, scores)


def test_one_process_joins_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert find_place() == Place(0, 1)
    assert join() == Ranks(0, 1)
    assert not torch.distributed.is_initialized()


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"RANK": "0"}, "The environment has RANK, but not WORLD_SIZE and MASTER_ADDR and MASTER_PORT. Start the"),
        ({"WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "1"}, "but not RANK. Start the training with"),
        ({"RANK": "2", "WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "1"}, "RANK is '2' and WORLD_SIZE is"),
        ({"RANK": "x", "WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "1"}, "RANK is 'x' and WORLD_SIZE is"),
    ],
)
def test_half_an_environment_of_torchrun_is_refused_before_any_work(
    environment: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ChmcnnError, match=message):
        CHMCNNClassifier().fit(None, None)


def test_runs_of_a_comparison_or_search_are_refused_under_torchrun(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    told = "each of which would do all runs; start one process"
    with pytest.raises(ChmcnnError, match=told), open_workers(1, None, tasks=1):
        pass

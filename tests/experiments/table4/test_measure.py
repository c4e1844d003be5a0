import math
import time
from pathlib import Path

import pytest
import torch
from tests import dense
from tests.experiments.recording import RecordingContext

from chmcnn._io import results
from chmcnn.constraint import max_constraint
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.errors import FileError
from chmcnn.experiments import table4
from chmcnn.experiments._memory import peak_bytes
from chmcnn.experiments._processor import processor
from chmcnn.experiments.context import Context
from chmcnn.experiments.table4 import _measure
from chmcnn.nn import MaxConstraint


@pytest.fixture(autouse=True)
def _few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_measure, "BATCHES", (4, 8))
    monkeypatch.setattr(_measure, "_CALLS", 2)


@pytest.mark.parametrize("pieces", [1, 3])
def test_the_dense_formula_is_the_oracle_of_the_tests_and_gives_what_our_layer_gives(pieces: int) -> None:
    hierarchy, h = random_hierarchy(60, edges=90, depth=5), torch.rand(7, 60)
    mask = _measure.subclass_mask(hierarchy)
    found = _measure.dense_max_constraint(h, mask, pieces)
    assert torch.equal(mask, dense.subclass_mask(hierarchy))
    assert torch.equal(found, dense.max_constraint(h.double(), mask))
    assert torch.equal(found, max_constraint(h, hierarchy).double())


def test_all_systems_are_timed_on_one_thread(data: Path, tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    context = RecordingContext(tmp_path / "results", data, "chmcnn reproduce table4")
    missing = table4.run(context, datasets=["spo_FUN", "expr_GO"])  # there is no file of the second
    found = table4.collect(tmp_path / "results")
    assert found is not None
    assert list(found.inferences) == ["spo_FUN"]
    assert list(missing) == ["expr_GO"]
    assert context.steps == [(1, 2), (2, 2)]
    mine = found.inferences["spo_FUN"]
    assert (mine.features, mine.classes, mine.edges, mine.hidden) == (3, 4, 3, 250)
    assert mine.parameters == (3 + 1) * 250 + (250 + 1) * 250 + (250 + 1) * 4
    assert mine.layer_bytes == {"ours": 2 * 4 * 8 + 2 * 3 * 8, "dense": 4 * 4 * 8}
    assert mine.same
    assert mine.processor == processor()
    assert mine.threads == 1
    assert torch.get_num_threads() == threads
    systems = {
        ("inference", "plain"),
        ("inference", "ours"),
        ("inference", "dense"),
        ("layer", "ours"),
        ("layer", "dense"),
    }
    assert {(each.batch, each.what, each.system) for each in mine.timings} == {
        (batch, *system) for batch in (4, 8) for system in systems
    }
    assert all(each.milliseconds > 0 and each.calls == 2 for each in mine.timings)
    assert all((each.peak_bytes is not None) == (each.what == "inference") for each in mine.timings)
    assert mine.ratio(4, "layer") > 0


def test_systems_take_turns_and_a_short_call_finds_its_own_data_in_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_measure, "_CALLS", 40)
    made: list[str] = []

    def call(name: str, seconds: float) -> _measure.Call:
        def called(rows: torch.Tensor) -> torch.Tensor:
            made.append(name)
            now[0] += seconds
            return rows

        return called, torch.rand(4, 1)

    now = [0.0]
    monkeypatch.setattr(time, "thread_time", lambda: now[0])
    times = {"a": 0.001, "b": 0.002, "slow": 0.1, "slowest": 3.0}
    took = _measure._time_calls({("layer", name): call(name, seconds) for name, seconds in times.items()})
    assert {name: len(took["layer", name]) for name in times} == {"a": 40, "b": 40, "slow": 7, "slowest": 1}
    assert all(
        took["layer", name] == pytest.approx([seconds] * len(took["layer", name])) for name, seconds in times.items()
    )
    assert [made.count(name) for name in times] == [1 + 1 + 2 * 39, 1 + 1 + 2 * 39, 1 + 7, 1 + 1]  # the first is short
    turns = [made[-4 * turn :][:4] for turn in range(1, 21)]
    assert {tuple(turn) for turn in turns} == {("a", "a", "b", "b"), ("b", "b", "a", "a")}  # neither is always first


@pytest.mark.usefixtures("path")
def test_the_memory_is_that_of_scores_and_of_what_our_layer_makes_of_them() -> None:
    hierarchy, x = random_hierarchy(60, edges=90, depth=5), torch.rand(7, 60)
    layer = MaxConstraint(hierarchy)
    output = x.nbytes  # of a network that only copies
    with torch.inference_mode():
        layer(x)
        assert peak_bytes(x.clone) == output
        assert peak_bytes(lambda: layer(x.clone())) >= 2 * output


def test_a_part_of_the_files_is_enough_and_what_is_there_is_not_measured_again(data: Path, tmp_path: Path) -> None:
    for part in ("train", "test"):
        (data / "datasets_FUN" / "spo_FUN" / f"spo_FUN.{part}.arff").unlink()
    table4.run(Context(tmp_path / "results", data), datasets=["spo_FUN"])
    first = table4.collect(tmp_path / "results")
    table4.run(Context(tmp_path / "results", data), datasets=["spo_FUN"])
    assert first is not None
    assert first == table4.collect(tmp_path / "results")


def test_large_batches_of_the_dense_formula_are_cut_or_left_out(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_measure, "LARGEST_TENSOR", 2 * 4 * 4 * 8)
    monkeypatch.setattr(_measure, "LARGEST_PASS", 4 * 4 * 4 * 8)
    table4.run(Context(tmp_path / "results", data), datasets=["spo_FUN"])
    found = table4.collect(tmp_path / "results")
    assert found is not None
    cut = found.inferences["spo_FUN"].timing(4, "inference", "dense")
    assert cut is not None
    assert (cut.pieces, cut.peak_bytes) == (2, None)
    assert found.inferences["spo_FUN"].timing(8, "inference", "dense") is None
    assert math.isnan(found.inferences["spo_FUN"].ratio(8, "inference"))


@pytest.mark.parametrize("change", ["lacking", "additional"])
def test_a_result_of_another_version_is_refused_with_a_way_out(data: Path, tmp_path: Path, change: str) -> None:
    table4.run(Context(tmp_path, data), datasets=["spo_FUN"])
    path = tmp_path / "spo_FUN.json"
    kept = results.read(path)
    for timing in kept["timings"]:
        if change == "lacking":
            del timing["system"]
        else:
            timing["layers"] = 2
    results.write(path, kept)
    with pytest.raises(FileError, match=r"spo_FUN\.json: it is not the file of a result; remove it, and the command"):
        table4.collect(tmp_path)


def test_nothing_is_collected_from_an_empty_folder(tmp_path: Path) -> None:
    assert table4.collect(tmp_path) is None

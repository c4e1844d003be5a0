from dataclasses import replace

import numpy as np
import pytest

from chmcnn.experiments.table4 import Inference, Table4, Timing, section
from chmcnn.experiments.table4._section import draw


def measured(name: str, *, network: float = 1.0, ours: float = 0.1, dense: float = 300.0) -> Inference:
    """A data set whose times at batch 4 are given, and whose dense formula is left out at batch 64."""
    timings = [
        Timing(batch, what, system, milliseconds, 100, 2**20 if what == "inference" else None)
        for batch in (4, 64)
        for what, system, milliseconds in (
            ("inference", "plain", network),
            ("inference", "ours", network + ours),
            ("inference", "dense", network + dense),
            ("layer", "ours", ours),
            ("layer", "dense", dense),
        )
        if (batch, system) != (64, "dense")
    ]
    return Inference(
        dataset=name,
        features=77,
        classes=4126,
        edges=5827,
        hidden=1000,
        parameters=5_000_000,
        layer_bytes={"ours": 2**10, "dense": 2**20},
        same=True,
        timings=tuple(timings),
        threads=1,
        compiled=True,
        processor="Quick 9000",
        versions={"torch": "2.13"},
    )


def result(*inferences: Inference) -> Table4:
    return Table4({each.dataset: each for each in inferences})


def test_both_readings_of_faster_are_checked() -> None:
    found = section(result(measured("cellcycle_FUN", dense=2.0), measured("cellcycle_GO")))
    assert (found.name, found.command) == ("table4", "chmcnn reproduce table4")
    assert [(check.claim, check.ours, check.agrees) for check in found.checks] == [
        (f"{what}, batches of 4, {on}: time of dense / ours", ours, True)
        for what, on, ours in (
            ("whole inference", "each data set", "2.73 to 274"),
            ("the layer alone", "each data set", "20.0 to 3,000"),
            ("whole inference", "each GO data set", "274 to 274"),
            ("the layer alone", "each GO data set", "3,000 to 3,000"),
        )
    ]
    assert all(check.goal for check in found.checks)
    assert [check.published for check in found.checks] == ["1 or more"] * 2 + ["100 or more"] * 2


def test_where_it_is_not_faster_is_said_with_the_reason() -> None:
    slow = section(result(measured("imclef07d", ours=0.03, dense=0.02), measured("seq_GO", network=40.0)))
    everywhere, layer, on_go, layer_on_go = slow.checks
    assert [check.agrees for check in slow.checks] == [False, False, False, True]
    assert everywhere.ours == "0.990 to 8.48"
    assert layer.why == "imclef07d, 4,126 classes, batch 4: ours 0.0300 ms, dense 0.0200 ms"
    assert on_go.why == (
        "seq_GO, 4,126 classes, batch 4: ours 40.1 ms, dense 340 ms; "
        "the network alone takes about 40.0 ms, so the ratio cannot exceed about 8.50"
    )
    assert not layer_on_go.why


def test_the_most_there_can_be_is_not_less_than_what_was_measured() -> None:
    noisy = section(result(measured("seq_GO", network=347.0, ours=-24.0, dense=6510.0))).checks[2]
    assert noisy.ours == "21.2 to 21.2"
    assert noisy.why.endswith("the network alone takes about 323 ms, so the ratio cannot exceed about 21.2")


def test_the_tables_have_the_papers_figures_and_what_was_left_out() -> None:
    times, memory, larger, peaks = section(result(measured("seq_GO"))).tables
    row = dict(zip(times.columns, times.rows[0], strict=True))
    assert (row["learning rate"], row["paper"], row["times"], row["times, layer"]) == ("1e-5", 2.6, "274", "3,000")
    assert larger.rows == (("seq_GO", 64, 1.0, 1.1, None, "-", 0.1, None, "-"),)
    assert peaks.rows == (("seq_GO", 64, 1.0, 1.0, None, "skipped"),)
    assert memory.rows == (("seq_GO", 5_000_000, 1 / 1024, 1.0, 1.0, 1.0, 1.0),)


def test_data_sets_without_a_result_are_named() -> None:
    text = section(result(measured("seq_GO"))).text
    assert "Both layers return the same values. Not measured: cellcycle_FUN," in text


def test_the_processors_and_versions_are_named() -> None:
    one, same, other = measured("seq_GO"), measured("expr_GO"), replace(measured("enron"), processor="Slow 1")
    assert "one thread of Quick 9000, torch 2.13, our layer compiled" in section(result(one, same)).text
    assert "one thread of Quick 9000 and Slow 1, torch 2.13," in section(result(one, same, other)).text


def test_what_was_timed_by_one_call_is_marked() -> None:
    once = replace(measured("seq_GO"), timings=(Timing(64, "inference", "dense", 9.0, 1, None, pieces=5),))
    assert section(result(once)).tables[3].rows[0][-1] == "in 5 pieces, 1 call"


@pytest.mark.parametrize("names", [("seq_GO",), ("seq_GO", "cellcycle_FUN", "enron")])
def test_the_picture_has_a_point_for_each_system_and_data_set(names: tuple[str, ...]) -> None:
    figure = draw(result(*(measured(name) for name in names)))
    figure.draw_without_rendering()
    axis = figure.axes[0]
    assert axis.get_xscale() == "log"
    assert [label.get_text() for label in axis.get_yticklabels()] == list(names)
    assert [np.shape(points.get_offsets()) for points in axis.collections] == [(len(names), 2)] * 3

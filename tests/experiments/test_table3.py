"""The ablation, from files of results."""

from pathlib import Path

import pytest
from tests.results import write_runs

from chmcnn.errors import ChmcnnError, DatasetError
from chmcnn.experiments import published, table3
from chmcnn.experiments.context import Context
from chmcnn.experiments.recipes import Benchmark
from chmcnn.experiments.section import Section
from chmcnn.experiments.table3 import section


def test_a_data_set_counts_once_all_systems_have_a_result(tmp_path: Path) -> None:
    for place, system in enumerate(table3.SYSTEMS):
        write_runs(tmp_path / "runs", {"spo_FUN": [0.18 + place / 100]}, system)
    write_runs(tmp_path / "runs", {"seq_FUN": [0.2]}, "h+")
    found = table3.collect(tmp_path)
    assert found is not None
    assert found.scores["default"].index.tolist() == ["spo_FUN"]
    assert found.scores["default"].loc["spo_FUN"].round(2).to_dict() == {"h+": 0.18, "h+MCM": 0.19, "C-HMCNN": 0.2}
    assert found.epochs["default"].loc["spo_FUN"].to_dict() == {"h+": 10, "h+MCM": 10, "C-HMCNN": 10}


def test_without_results_of_all_systems_there_is_nothing(tmp_path: Path) -> None:
    assert table3.collect(tmp_path) is None
    write_runs(tmp_path / "runs", {"seq_FUN": [0.2]}, "h+")
    assert table3.collect(tmp_path) is None


def test_it_is_about_the_eight_funcat_data_sets(tmp_path: Path) -> None:
    assert len(table3.DATASETS) == 8
    assert all(name.endswith("_FUN") for name in table3.DATASETS)
    with pytest.raises(DatasetError, match="Table 3 has no data set 'enron'; it has cellcycle_FUN"):
        table3.run(Context(tmp_path), Benchmark(["spo_FUN", "enron"]))


def made(folder: Path, places: dict[str, float]) -> Section:
    for system, shift in places.items():
        figures = published.ablation()["validation AU(PRC)"][system]
        write_runs(folder / "runs", {str(name): [value + shift] for name, value in figures.items()}, system)
    found = table3.collect(folder)
    assert found is not None
    return section(found)


def test_the_published_order_agrees(tmp_path: Path) -> None:
    found = made(tmp_path, dict.fromkeys(table3.SYSTEMS, 0.001))
    means, ranks = found.checks
    assert means.agrees
    assert ranks.agrees
    assert means.published == "C-HMCNN 0.2411, h+MCM 0.2368, h+ 0.2248"
    assert ranks.published == "C-HMCNN 1.00, h+MCM 2.06, h+ 2.94"  # as the paper prints them
    scores, epochs = found.tables
    assert scores.rows[0] == ("cellcycle_FUN", *map(pytest.approx, (0.221, 0.220, 0.230, 0.229, 0.233, 0.232)))
    assert epochs.rows[0] == ("cellcycle_FUN", 10, 74, 10, 108, 10, 106)
    assert [row[0] for row in scores.rows][-1] == "mean"
    assert scores.summed
    assert scores.note == "Ours: means of 1 seed."


def test_another_order_does_not(tmp_path: Path) -> None:
    checks = made(tmp_path, {"h+": 0.1, "h+MCM": 0.0, "C-HMCNN": 0.0}).checks
    assert [check.agrees for check in checks] == [False, False]
    assert checks[0].why.startswith("h+ and C-HMCNN and h+MCM swapped places")


def test_reconstructed_data_is_shown_and_counts_in_no_mean(tmp_path: Path) -> None:
    for system in table3.SYSTEMS:
        write_runs(tmp_path / "runs", {"expr_FUN (reconstructed train)": [0.9], "spo_FUN": [0.2]}, system)
    result = table3.collect(tmp_path)
    assert result is not None
    found = section(result)
    assert found.checks[0].claim == "order of the means over 1 data set, default recipe"
    assert [row[:2] for row in found.tables[0].rows] == [
        ("expr_FUN (reconstructed train)", 0.9),
        ("spo_FUN", 0.2),
        ("mean", 0.2),
    ]


def test_the_best_recipe_has_no_losses_to_compare(tmp_path: Path) -> None:
    with pytest.raises(ChmcnnError, match="compares the losses of one network; use the recipe 'default' or 'paper'"):
        table3.run(Context(tmp_path), Benchmark(["spo_FUN"], "best"))

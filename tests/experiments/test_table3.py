"""The ablation, from files of results."""

from pathlib import Path

import pytest
from tests.results import write_runs

from chmcnn.errors import DatasetError
from chmcnn.experiments import table3


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


def test_it_is_about_the_eight_funcat_data_sets() -> None:
    assert len(table3.DATASETS) == 8
    assert all(name.endswith("_FUN") for name in table3.DATASETS)
    table3.refuse_others(table3.DATASETS)
    with pytest.raises(DatasetError, match="Table 3 has no data set 'enron'; it has cellcycle_FUN"):
        table3.refuse_others(["spo_FUN", "enron"])

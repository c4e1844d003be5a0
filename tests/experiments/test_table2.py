"""Our results on the benchmark beside the published ones."""

from pathlib import Path

import pytest
from tests.results import write_runs

from chmcnn.experiments import published, recipes, table2
from chmcnn.experiments.context import Context
from chmcnn.experiments.section import Section
from chmcnn.experiments.table2 import section


def test_means_are_put_beside_the_published_figure(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", {"cellcycle_FUN": [0.250, 0.254], "enron": [0.752]})
    write_runs(tmp_path / "runs", {"cellcycle_FUN": [0.262]}, options=recipes.options("paper", "cellcycle_FUN"))
    found = table2.collect(tmp_path)
    assert found is not None
    rows = found.summary.set_index(["dataset", "recipe"])
    assert rows["published"].tolist() == [0.255, 0.255, 0.756]
    assert rows.loc[("cellcycle_FUN", "default"), "difference"] == pytest.approx(-0.003)
    good = {("cellcycle_FUN", "default"): True, ("cellcycle_FUN", "paper"): False, ("enron", "default"): False}
    assert rows["good"].to_dict() == good  # 0.003 below is near enough, 0.004 is not; 0.007 above is not the paper's


def test_ours_take_the_place_of_the_published_system(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", {"expr_FUN (reconstructed train)": [0.5], "spo_FUN": [0.2], "enron": [0.9]})
    found = table2.collect(tmp_path)
    assert found is not None
    table = found.compared("default")
    assert table["C-HMCNN"].to_dict() == {"spo_FUN": 0.2, "enron": 0.9}  # the other is not the paper's data set
    assert table["HMCN-F"].tolist() == published.auprc()["HMCN-F"][["spo_FUN", "enron"]].tolist()


def test_the_best_recipe_is_an_ensemble_beside_the_networks(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", {"enron": [0.752]})
    write_runs(tmp_path / "runs", {"enron": [0.772, 0.774]}, "best")
    found = table2.collect(tmp_path)
    assert found is not None
    assert found.scores("best").to_dict() == {"enron": pytest.approx(0.773)}
    (table,) = (table for table in section(found).tables if table.title == "AU(PRC)")
    assert table.columns[1:3] == ("ours, default recipe", "ours, best recipe")


def test_without_results_there_is_nothing(tmp_path: Path) -> None:
    assert table2.collect(tmp_path) is None


WITHOUT = "unknown; the other recipe, which would show whether it is the settings, was not run"


def made(folder: Path, shift: float) -> Section:
    """Ten seeds on all data sets, so much better than what was published."""
    scores = {name: [value + shift] * 10 for name, value in published.auprc()["C-HMCNN"].items()}
    write_runs(folder / "runs", {str(name): values for name, values in scores.items()})
    found = table2.collect(folder)
    assert found is not None
    return section(found)


def test_as_good_as_published_agrees_and_nothing_falls_short(tmp_path: Path) -> None:
    found = made(tmp_path, 0.001)
    (check,) = found.checks
    assert check.agrees
    assert check.ours == "20 of 20 data sets, 10 seeds"
    scores, short, statistics = found.tables
    assert len(scores.rows) == 20
    assert scores.rows[0][:3] == ("cellcycle_FUN", "0.256 ± 0.000 (10)", 0.255)
    assert short.rows == ()
    assert scores.note.endswith("one data set after the other: 20 data sets in 3 minutes (default recipe).")
    assert ("average rank, C-HMCNN", "1.25") in statistics.rows
    assert [picture.name for picture in found.pictures] == ["differences", "ranks-default"]


def test_what_falls_short_is_named_with_its_standard_error(tmp_path: Path) -> None:
    found = made(tmp_path, -0.01)
    (check,) = found.checks
    assert not check.agrees
    assert check.ours == "0 of 20 data sets, 10 seeds"
    assert "cellcycle_FUN" in check.why
    assert found.tables[1].rows[0] == ("cellcycle_FUN", "default recipe", -0.01, 0.0, 10, WITHOUT)


def test_why_it_falls_short_is_told_as_far_as_the_results_tell(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    scores = {
        "enron": [0.70, 0.71],
        "spo_FUN": [0.20, 0.20],
        "diatoms": [0.75, 0.757, 0.748, 0.759],
        "imclef07d": [0.919, 0.926, 0.917, 0.928],
        "eisen_GO": [0.3],
        "expr_FUN (reconstructed train)": [0.2],
    }
    write_runs(runs, scores)
    for name, values in {"enron": [0.755, 0.757], "spo_FUN": [0.2, 0.201], "imclef07d": [0.927]}.items():
        write_runs(runs, {name: values}, options=recipes.options("paper", name))
    result = table2.collect(tmp_path)
    assert result is not None
    why = {(row[0], row[1]): row[-1] for row in section(result).tables[1].rows}
    assert why == {
        ("expr_FUN (reconstructed train)", "default recipe"): "its train file differs from the paper's",
        ("spo_FUN", "default recipe"): "not only due to the settings: the paper's recipe gets 0.201",
        ("spo_FUN", "paper's recipe"): "not only due to the settings: the default recipe gets 0.200",
        ("eisen_GO", "default recipe"): "unknown from one seed",
        ("diatoms", "default recipe"): "less than two standard errors beyond the bound: may be chance",
        ("imclef07d", "default recipe"): "less than two standard errors beyond the bound: may be chance; "
        "the paper's recipe gets 0.927",
        ("enron", "default recipe"): "due to the settings: the paper's recipe gets 0.756",
    }


def test_one_data_set_has_no_statistics_and_no_diagram(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", {"enron": [0.75]})
    result = table2.collect(tmp_path)
    assert result is not None
    found = section(result)
    assert [picture.name for picture in found.pictures] == ["differences"]
    assert found.tables[0].rows[0][1] == "0.750 (1)"


def test_nothing_is_checked_of_reconstructed_data_alone(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", {"expr_FUN (reconstructed train)": [0.3]})
    result = table2.collect(tmp_path)
    assert result is not None
    assert section(result).checks == ()


def test_the_best_recipe_runs_the_ensemble(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    planned: list[str] = []
    monkeypatch.setattr(recipes, "run", lambda _, benchmark, systems: planned.extend((benchmark.recipe, *systems)))
    for recipe in recipes.RECIPES:
        table2.run(Context(tmp_path), recipes.Benchmark(["enron"], recipe))
    assert planned == ["default", "C-HMCNN", "paper", "C-HMCNN", "best", "best"]
    assert recipes.options("best", "enron") == {}

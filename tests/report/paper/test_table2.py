"""What is said of table 2."""

from pathlib import Path

from tests.results import write_runs

from chmcnn.experiments import published, recipes, table2
from chmcnn.report.paper.section import Section
from chmcnn.report.paper.table2 import section

WITHOUT = "not known; the other recipe, which would tell if it is the settings, was not run"


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
    assert check.ours == "20 of 20 that were run, 10 seeds"
    scores, short, statistics = found.tables
    assert len(scores.rows) == 20
    assert scores.rows[0][:3] == ("cellcycle_FUN", "0.256 ± 0.000 (10)", 0.255)
    assert short.rows == ()
    assert scores.note.endswith("one after the other: 20 data sets in 3 minutes (default recipe).")
    assert ("average rank, C-HMCNN", "1.25") in statistics.rows
    assert [picture.name for picture in found.pictures] == ["differences", "ranks-default"]


def test_what_falls_short_is_named_with_its_standard_error(tmp_path: Path) -> None:
    found = made(tmp_path, -0.01)
    (check,) = found.checks
    assert not check.agrees
    assert check.ours == "0 of 20 that were run, 10 seeds"
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
        ("expr_FUN (reconstructed train)", "default recipe"): "its train file is not the paper's",
        ("spo_FUN", "default recipe"): "the settings are not all of it: the paper's recipe gets 0.201",
        ("spo_FUN", "paper's recipe"): "the settings are not all of it: the default recipe gets 0.200",
        ("eisen_GO", "default recipe"): "not to be told from one seed",
        ("diatoms", "default recipe"): "by less than two standard errors beyond the bound: it may be chance",
        ("imclef07d", "default recipe"): "by less than two standard errors beyond the bound: it may be chance; "
        "the paper's recipe gets 0.927",
        ("enron", "default recipe"): "it is the settings: the paper's recipe gets 0.756",
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

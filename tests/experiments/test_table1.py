from pathlib import Path

import pytest
from tests.experiments.recording import RecordingContext

from chmcnn._io import results
from chmcnn.datasets.catalogue import catalogue
from chmcnn.errors import DatasetError, FileError
from chmcnn.experiments import published, table1
from chmcnn.experiments.context import Context
from chmcnn.experiments.table1 import Sizes, Table1, section


def test_what_is_in_the_files_is_counted(data: Path, tmp_path: Path) -> None:
    context = RecordingContext(tmp_path / "results", data, "chmcnn reproduce table1")
    table1.run(context, datasets=["spo_FUN", "enron"])
    found = table1.collect(tmp_path / "results")
    assert found is not None
    assert found.sizes["spo_FUN"] == table1.Sizes(
        dataset="spo_FUN",
        features=2,
        encoded=3,
        classes=3,
        rows={"train": 10, "valid": 5, "test": 4},
        drawn=None,
        missing=(),
        command="chmcnn reproduce table1",
    )
    assert found.sizes["enron"].rows == {"train": 7, "valid": 3, "test": 4}
    assert found.sizes["enron"].drawn == 10
    assert context.steps == [(1, 2), (2, 2)]


def test_a_missing_file_is_told_and_looked_for_again(data: Path, tmp_path: Path) -> None:
    train = data / "datasets_FUN" / "spo_FUN" / "spo_FUN.train.arff"
    content = train.read_bytes()
    train.unlink()
    for name in ("Enron_corr_trainvalid", "Enron_corr_test"):
        (data / "others" / f"{name}.arff").unlink()
    folder = tmp_path / "results"
    (told,) = table1.run(Context(folder, data), datasets=["enron", "spo_FUN"]).items()
    assert told[0] == "enron"
    assert "Enron_corr_trainvalid.arff is not here" in told[1]
    found = table1.collect(folder)
    assert found is not None
    assert list(found.sizes) == ["spo_FUN"]
    assert found.sizes["spo_FUN"].missing == ("train",)
    assert found.sizes["spo_FUN"].rows == {"valid": 5, "test": 4}
    train.write_bytes(content)
    table1.run(Context(folder, data), datasets=["spo_FUN"])
    again = table1.collect(folder)
    assert again is not None
    assert again.sizes["spo_FUN"].rows["train"] == 10


def test_a_fuller_result_is_not_written_over(data: Path, tmp_path: Path) -> None:
    folder, files = tmp_path / "results", data / "datasets_FUN" / "spo_FUN"
    (files / "spo_FUN.train.arff").unlink()
    table1.run(Context(folder, data), datasets=["spo_FUN"])
    before = (folder / "spo_FUN.json").read_bytes()
    table1.run(Context(folder, data, "the same again"), datasets=["spo_FUN"])
    assert (folder / "spo_FUN.json").read_bytes() == before
    (files / "spo_FUN.valid.arff").unlink()
    assert table1.run(Context(folder, data), datasets=["spo_FUN"]) == {}
    assert (folder / "spo_FUN.json").read_bytes() == before


@pytest.mark.parametrize("other", [{"rows": {}}, {"new": 1}])
def test_a_result_of_another_version_is_refused_with_a_way_out(tmp_path: Path, other: dict[str, object]) -> None:
    results.write(tmp_path / "enron.json", other)
    with pytest.raises(FileError, match=r"enron\.json: it is not the file of a result; remove it, and the command"):
        table1.collect(tmp_path)


def test_a_finished_data_set_is_not_read_again(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    table1.run(Context(folder, data), datasets=["spo_FUN"])
    kept = results.read(folder / "spo_FUN.json")
    results.write(folder / "spo_FUN.json", kept | {"features": 99})
    table1.run(Context(folder, tmp_path), datasets=["spo_FUN"])
    found = table1.collect(folder)
    assert found is not None
    assert found.sizes["spo_FUN"].features == 99


def test_an_unknown_data_set_is_refused_before_any_is_read(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no data set 'spo_FUM'"):
        table1.run(Context(tmp_path / "results", data), datasets=["spo_FUN", "spo_FUM"])
    assert table1.collect(tmp_path / "results") is None


def printed(name: str, **other: int) -> Sizes:
    """What the paper prints, but for some counts."""
    counts = published.sizes().loc[name].to_dict() | other
    rows = {part: counts[f"{part} rows"] for part in ("train", "valid", "test")}
    return Sizes(name, counts["features"], counts["features"], counts["classes"], rows, None, ())


def cells(result: Table1) -> dict[str, dict[str, object]]:
    table = section(result).tables[0]
    return {str(row[0]): dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_counts_that_agree_are_shown_once_and_all_checks_hold() -> None:
    found = section(Table1({name: printed(name) for name in catalogue().entries}))
    assert (found.name, found.command) == ("table1", "chmcnn reproduce table1")
    assert [check.agrees for check in found.checks] == [True] * 5
    assert found.checks[0].ours == "20 of 20 agree, 20 exactly"
    assert found.tables[0].rows[0] == ("cellcycle_FUN", 77, 499, 1625, 848, 1281, "")


def test_counts_that_differ_are_marked_with_the_reason() -> None:
    sizes = {name: printed(name) for name in catalogue().entries}
    sizes |= {"enron": printed("enron", features=1001), "derisi_GO": printed("derisi_GO", classes=7)}
    found = cells(Table1(sizes))
    assert found["enron"]["D"] == "1,001 (paper: 1,000)"
    assert found["enron"]["remarks"] == "the files have one attribute more"
    assert found["derisi_GO"]["remarks"] == "unknown why the classes differ"
    features = section(Table1(sizes)).checks[0]
    assert not features.agrees
    assert features.why == "enron has 1,001, not 1,000: the files have one attribute more"


def test_rows_of_the_other_taxonomy_are_recognised() -> None:
    sizes = {name: printed(name) for name in catalogue().entries} | {
        "spo_FUN": printed("spo_FUN", **{"test rows": 1266})
    }
    assert cells(Table1(sizes))["spo_FUN"]["remarks"] == "the paper has the count of spo_GO"
    assert section(Table1(sizes)).checks[-1].agrees  # it is near enough


def test_what_was_not_read_is_said_with_what_the_catalogue_knows() -> None:
    part = Sizes("expr_FUN", 551, 561, 499, {"valid": 849, "test": 1288}, None, ("train",))
    found = cells(Table1({"expr_FUN": part}))
    assert found["expr_FUN"]["train"] == "unknown (paper: 1,636)"
    assert found["expr_FUN"]["remarks"] == ("the train file is not available; 561 columns after one-hot encoding")
    assert found["enron"]["D"] == "1,001 (paper: 1,000)"
    assert "from the catalogue" in str(found["enron"]["remarks"])
    assert "unknown: expr_FUN, expr_GO" in section(Table1({"expr_FUN": part})).checks[2].why

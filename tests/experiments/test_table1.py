from pathlib import Path

import pytest

from chmcnn._io import results
from chmcnn.errors import DatasetError, FileError
from chmcnn.experiments import table1


def test_what_is_in_the_files_is_counted(data: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    table1.run(
        tmp_path / "results",
        datasets=["spo_FUN", "enron"],
        data_dir=data,
        command="chmcnn reproduce table1",
        progress=lambda done, total: seen.append((done, total)),
    )
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
    assert seen == [(1, 2), (2, 2)]


def test_a_missing_file_is_told_and_looked_for_again(data: Path, tmp_path: Path) -> None:
    train = data / "datasets_FUN" / "spo_FUN" / "spo_FUN.train.arff"
    content = train.read_bytes()
    train.unlink()
    for name in ("Enron_corr_trainvalid", "Enron_corr_test"):
        (data / "others" / f"{name}.arff").unlink()
    folder = tmp_path / "results"
    (told,) = table1.run(folder, datasets=["enron", "spo_FUN"], data_dir=data).items()
    assert told[0] == "enron"
    assert "Enron_corr_trainvalid.arff could not be downloaded" in told[1]
    found = table1.collect(folder)
    assert found is not None
    assert list(found.sizes) == ["spo_FUN"]
    assert found.sizes["spo_FUN"].missing == ("train",)
    assert found.sizes["spo_FUN"].rows == {"valid": 5, "test": 4}
    train.write_bytes(content)
    table1.run(folder, datasets=["spo_FUN"], data_dir=data)
    again = table1.collect(folder)
    assert again is not None
    assert again.sizes["spo_FUN"].rows["train"] == 10


def test_a_fuller_result_is_not_written_over(data: Path, tmp_path: Path) -> None:
    folder, files = tmp_path / "results", data / "datasets_FUN" / "spo_FUN"
    (files / "spo_FUN.train.arff").unlink()
    table1.run(folder, datasets=["spo_FUN"], data_dir=data)
    before = (folder / "spo_FUN.json").read_bytes()
    table1.run(folder, datasets=["spo_FUN"], data_dir=data, command="the same again")
    assert (folder / "spo_FUN.json").read_bytes() == before
    (files / "spo_FUN.valid.arff").unlink()
    assert table1.run(folder, datasets=["spo_FUN"], data_dir=data) == {}
    assert (folder / "spo_FUN.json").read_bytes() == before


@pytest.mark.parametrize("other", [{"rows": {}}, {"new": 1}])
def test_a_result_of_another_version_is_refused_with_a_way_out(tmp_path: Path, other: dict[str, object]) -> None:
    results.write(tmp_path / "enron.json", other)
    with pytest.raises(FileError, match=r"enron\.json: not a result file; delete it, and run the command"):
        table1.collect(tmp_path)


def test_a_finished_data_set_is_not_read_again(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    table1.run(folder, datasets=["spo_FUN"], data_dir=data)
    kept = results.read(folder / "spo_FUN.json")
    results.write(folder / "spo_FUN.json", kept | {"features": 99})
    table1.run(folder, datasets=["spo_FUN"], data_dir=tmp_path)
    found = table1.collect(folder)
    assert found is not None
    assert found.sizes["spo_FUN"].features == 99


def test_an_unknown_data_set_is_refused_before_any_is_read(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no data set 'spo_FUM'"):
        table1.run(tmp_path / "results", datasets=["spo_FUN", "spo_FUM"], data_dir=data)
    assert table1.collect(tmp_path / "results") is None

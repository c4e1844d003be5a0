import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import catalogue as measured
from benchmarks import shapes
from tests.untyped import untyped

from chmcnn import DatasetError, datasets
from chmcnn.datasets import download, registry
from chmcnn.datasets.arff import read, write
from chmcnn.datasets.catalogue import File, catalogue
from chmcnn.datasets.dataset import Dataset

COMPLETE = [name for name in datasets.names() if not name.startswith(("expr", "digits"))]
needs_files = pytest.mark.skipif(not shapes.data_folder().is_dir(), reason="the files of the benchmark are not there")


def load(name: str, **options: Any) -> Dataset:
    return datasets.load(name, data_dir=shapes.data_folder(), **options)


def test_the_catalogue_has_the_papers_20_data_sets_and_their_56_files() -> None:
    entries = catalogue().entries
    assert list(entries) == list(measured.paths())
    assert len(entries) == 20
    assert sum(len(entry.files) for entry in entries.values()) == 56
    assert {len(file.blob) for entry in entries.values() for file in entry.files.values()} == {40}


@needs_files
@pytest.mark.parametrize("name", COMPLETE)
def test_a_data_set_has_the_size_in_the_catalogue(name: str) -> None:
    data = load(name)
    entry = catalogue()[name]
    rows = {part: len(table) for part, table in data.parts.items()}
    if "valid" not in entry.files:
        rows["train"] += rows.pop("valid")
    assert rows == {part: file.rows for part, file in entry.files.items()}
    assert len(data.train.feature_names) == entry.features
    assert (len(data.hierarchy), len(data.hierarchy.edges)) == (entry.classes, entry.edges)
    assert (int(data.evaluated.sum()), data.hierarchy.depth) == (entry.evaluated, entry.depth)
    assert not data.unverified
    for table in data.parts.values():
        assert len(data.hierarchy.violations(table.Y)) == 0
        assert table.Y.toarray().any(axis=1).all()


@needs_files
def test_the_catalogue_is_what_the_files_have() -> None:
    files_of = measured.paths()["enron"]
    for part, path in files_of.items():
        known, size = measured.measure(path)
        assert File(**untyped(known)) == catalogue()["enron"].files[part]
        assert size["features"] == 1001


@needs_files
def test_the_seed_draws_the_validation_rows_where_there_are_none() -> None:
    first, again, other = load("enron", seed=1), load("enron", seed=1), load("enron", seed=2)
    assert (len(first.train), len(first.valid)) == (692, 296)
    assert np.array_equal(first.valid.Y.toarray(), again.valid.Y.toarray())
    assert not np.array_equal(first.valid.Y.toarray(), other.valid.Y.toarray())
    assert np.array_equal(first.test.Y.toarray(), other.test.Y.toarray())


@needs_files
def test_a_file_that_the_user_names_is_marked_as_not_verified(tmp_path: Path) -> None:
    folder = shapes.data_folder() / "datasets_FUN" / "expr_FUN"
    mine = tmp_path / "mine.arff"
    write(mine, read(folder / "expr_FUN.valid.arff"))
    data = load("expr_FUN", named={"train": mine})
    assert data.unverified == (str(mine),)
    assert data.title == "expr_FUN (not verified)"
    assert len(data.train) == 849
    same = load("eisen_FUN", named={"train": shapes.data_folder() / "datasets_FUN/eisen_FUN/eisen_FUN.train.arff"})
    assert not same.unverified  # it is the authors' own file
    with pytest.raises(DatasetError, match="has different columns than"):
        load("expr_FUN", named={"train": shapes.data_folder() / "datasets_FUN/eisen_FUN/eisen_FUN.train.arff"})


def test_names_that_are_not_there_are_told() -> None:
    with pytest.raises(
        DatasetError, match=r"no data set 'celcycle_FUN'\. Did you mean 'cellcycle_FUN'\?.*digits, cell"
    ):
        datasets.load("celcycle_FUN")
    with pytest.raises(DatasetError, match="enron has no part 'valid'; its parts are train, test"):
        datasets.load("enron", named={"valid": "mine.arff"})
    with pytest.raises(DatasetError, match=r"mine\.arff, named as the train part of enron, does not exist"):
        datasets.load("enron", named={"train": "mine.arff"})
    with pytest.raises(DatasetError, match="'digits' has no files; its part 'train' cannot be named"):
        datasets.load("digits", named={"train": "mine.arff"})
    with pytest.raises(DatasetError, match=r"data folder nowhere does not exist"):
        datasets.load("enron", data_dir="nowhere")


def test_loading_needs_no_torch_and_names_need_no_pandas() -> None:
    code = (
        "import sys; from chmcnn import datasets; datasets.names(); a = 'pandas' in sys.modules; "
        "datasets.load('digits'); print(a, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_what_is_promised_is_there() -> None:
    for name in datasets.__all__:
        assert getattr(datasets, name) is not None
    assert dir(datasets) == sorted(datasets.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'loud'"):
        untyped(datasets).loud()


def test_the_digits_are_split_by_writer_and_have_several_parents() -> None:
    data = datasets.load("digits")
    assert data.evaluated.all()
    assert [len(table) for table in data.parts.values()] == [1000, 297, 500]
    digits = [str(digit) for digit in range(10)]
    assert set(data.hierarchy.leaves) == set(digits)
    assert sum(len(data.hierarchy.parents(digit)) > 1 for digit in digits) >= 6
    columns = [data.hierarchy.index(digit) for digit in digits]
    for table in data.parts.values():
        assert (table.Y[:, columns].sum(axis=1) == 1).all()
        assert table.Y.toarray().any(axis=0).all()


def test_files_that_are_not_here_are_fetched_with_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.datasets.server import serve

    content = b"x" * 300_000
    file = File("HMC_data/one.arff", download.blob_id(content), len(content), 1)
    (tmp_path / "home" / "HMC_data").mkdir(parents=True)
    (tmp_path / "home" / "HMC_data" / "one.arff").write_bytes(content)
    monkeypatch.setenv("CHMCNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CHMCNN_DATA", raising=False)
    with serve(tmp_path / "home", "honest") as (address, asked):
        monkeypatch.setenv("CHMCNN_MIRROR", address)
        assert registry.locate([file])[file].read_bytes() == content
        shown = capsys.readouterr()
        assert "one.arff" in shown.err
        assert "300.0/300.0 kB" in shown.err
        registry.locate([file])
        assert len(asked) == 1
    assert capsys.readouterr().err == ""

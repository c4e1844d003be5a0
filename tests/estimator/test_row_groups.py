"""Training on Parquet files, some rows at a time."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from sklearn.feature_extraction.text import TfidfVectorizer
from tests.estimator.texts import LABELS, TABLE

from chmcnn import CHMCNNClassifier, ChmcnnError, FileError, Hierarchy, load_model
from chmcnn.datasets import Preprocessor, RowGroups, Table, read_table
from chmcnn.datasets.one_pass import OnePass
from chmcnn.estimator._row_groups import WindowedRows, learn_preprocessing
from chmcnn.nn import SparseMLP
from chmcnn.training import Rows

TREE = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat")])
OPTIONS: dict[str, Any] = {"epochs": 3, "widths": [8], "random_state": 0, "device": "cpu"}


def make_table(rows: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    kinds = random.choice(["dog", "cat"], rows)
    size = np.where(kinds == "dog", 3.0, -3.0) + random.normal(size=rows)
    return pd.DataFrame(
        {
            "name": [f"n{seed}-{number}" for number in range(rows)],
            "size": np.where(random.random(rows) < 0.1, np.nan, size),
            "colour": np.array(["red", "blue", None])[random.integers(0, 3, rows)],
            "born": pd.to_datetime("2020-01-01") + pd.to_timedelta(random.integers(0, 900, rows), "D"),
            "same": 2.0,
            "labels": kinds,
        }
    )


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"part{number}.parquet" for number in range(3)]
    for number, path in enumerate(paths):
        make_table(50, number).to_parquet(path, row_group_size=20)
    return paths


def open_files(paths: list[Path], **options: Any) -> RowGroups:
    return RowGroups(paths, TREE, **{"id_column": "name", "window": 32, **options})


def list_batches(rows: RowGroups, seed: int, share: float = 0.2) -> list[tuple[torch.Tensor, torch.Tensor]]:
    held_out = rows.draw(share, 0)
    data = WindowedRows(
        rows, held_out, Preprocessor(), lambda part: Rows(torch.tensor(part.X["size"].to_numpy())[:, None], part.Y)
    )
    torch.manual_seed(seed)
    batches = list(data.batches(7))
    assert len(batches) == -(-len(data) // 7)
    return batches


def test_the_order_depends_on_the_seed_and_every_training_row_comes_once(files: list[Path]) -> None:
    rows = open_files(files)
    assert len(rows) == 150
    first, again, other = list_batches(rows, 1), list_batches(rows, 1), list_batches(rows, 2)
    for (x, y), (x_again, y_again) in zip(first, again, strict=True):
        torch.testing.assert_close(x, x_again, equal_nan=True)
        assert (y == y_again).all()
    values = [torch.cat([x for x, _ in batches]).ravel() for batches in (first, other)]
    assert not torch.equal(values[0], values[1])
    torch.testing.assert_close(values[0].sort().values, values[1].sort().values, equal_nan=True)
    held_out = sum(int(mask.sum()) for mask in rows.draw(0.2, 0).values())
    assert len(values[0]) == 150 - held_out
    assert 10 < held_out < 50


def test_held_out_rows_do_not_depend_on_the_window(files: list[Path]) -> None:
    masks = [open_files(files, window=window).draw(0.2, 5) for window in (1, 1000)]
    assert [mask.tolist() for mask in masks[0].values()] == [mask.tolist() for mask in masks[1].values()]


def test_one_pass_learns_what_the_preprocessor_learns(files: list[Path]) -> None:
    rows = open_files(files)
    tables = [table.X for group in rows.groups for _, table in rows.read(group)]
    one_pass = OnePass()
    for table in tables:
        one_pass.add(table)
    whole = pd.concat(tables).astype({"colour": "category"})
    for standardise in (True, False):
        found, expected = one_pass.create(standardise=standardise), Preprocessor(standardise=standardise).fit(whole)
        assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
        np.testing.assert_allclose(found.means_, expected.means_)
        np.testing.assert_allclose(found.scales_, expected.scales_)
        np.testing.assert_allclose(found.transform(whole), expected.transform(whole), atol=1e-12)


def test_a_model_of_files_is_one_of_tables(tmp_path: Path, files: list[Path]) -> None:
    model = CHMCNNClassifier(TREE, **OPTIONS).fit(open_files(files))
    new = make_table(20, 9).drop(columns="labels").set_index("name")
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model", device="cpu")
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    assert loaded.id_column_ == "name"
    assert model.best_score_ > 0.8
    assert len(TREE.violations(model.predict_proba(new))) == 0
    again = CHMCNNClassifier(TREE, **OPTIONS).fit(open_files(files))
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    valid = make_table(30, 8).set_index("name")
    own = CHMCNNClassifier(TREE, **OPTIONS)
    own.fit(open_files(files), validation_data=(valid.drop(columns="labels"), valid["labels"]))
    assert own.n_samples_fit_ == 150


def interrupt(epoch: Any) -> None:
    if epoch.number == 2:
        raise KeyboardInterrupt


def write_shop(folder: Path) -> RowGroups:
    """Write texts beside numbers, dates and categories."""
    table = TABLE.assign(labels=LABELS).sample(frac=1, random_state=0).reset_index()
    table.to_parquet(folder / "shop.parquet", row_group_size=17)
    hierarchy = Hierarchy.from_paths(LABELS, ">")
    return RowGroups([folder], hierarchy, id_column="sku", path_separator=">", window=32)


def write_words(folder: Path) -> RowGroups:
    """Write lists of entries: feature 2 is that of dogs, 3 that of cats."""
    random = np.random.default_rng(0)
    kinds = random.choice(["dog", "cat"], 120)
    places = [[2 if kind == "dog" else 3, int(random.integers(4, 20))] for kind in kinds]
    entries = {"indices": places, "values": random.uniform(0.5, 2, (120, 2)).tolist(), "labels": kinds}
    parquet.write_table(pa.table(entries), folder / "words.parquet", row_group_size=25)
    return RowGroups([folder], TREE, window=32)


@pytest.mark.parametrize("write", [write_shop, write_words])
def test_text_and_sparse_features_train_the_network_for_them(
    tmp_path: Path, write: Callable[[Path], RowGroups]
) -> None:
    (tmp_path / "big").mkdir()
    rows = write(tmp_path / "big")
    options = {**OPTIONS, "epochs": 6, "learning_rate": 0.1, "batch_size": 8}
    model = CHMCNNClassifier(rows.hierarchy, **options).fit(rows)
    assert isinstance(model.network_, SparseMLP)
    assert model.best_score_ > 0.75
    whole = read_table(tmp_path / "big", rows.hierarchy, id_column=rows.id_column, path_separator=">")
    scores = model.predict_proba(whole.X)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model", device="cpu").predict_proba(whole.X), scores)
    options["checkpoint"] = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        CHMCNNClassifier(rows.hierarchy, **options, verbose=interrupt).fit(rows)
    resumed = CHMCNNClassifier(rows.hierarchy, **options).fit(rows)
    np.testing.assert_array_equal(resumed.predict_proba(whole.X), scores)


def test_features_are_those_of_a_table_in_memory(tmp_path: Path) -> None:
    rows = write_shop(tmp_path)
    table = read_table(tmp_path, rows.hierarchy, id_column="sku", path_separator=">")
    options = {**OPTIONS, "epochs": 1, "validation": 0}
    streamed = CHMCNNClassifier(rows.hierarchy, **options).fit(rows).preprocessor_
    whole = CHMCNNClassifier(rows.hierarchy, **options).fit(table.X, table.Y).preprocessor_
    assert streamed.list_kinds() == {"price": "numbers", "title": "text", "day": "dates", "shop": "categories"}
    assert streamed.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    expected = whole.transform(table.X).toarray()
    np.testing.assert_allclose(streamed.transform(table.X).toarray(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "columns", [{"size": [1.0, 2.0, 9.0]}, {"indices": [[0], [0], [0]], "values": [[1.0], [2.0], [9.0]]}]
)
def test_a_window_whose_rows_are_all_held_out_teaches_nothing(tmp_path: Path, columns: dict[str, Any]) -> None:
    parquet.write_table(pa.table({**columns, "labels": ["dog"] * 3}), tmp_path / "my.parquet")
    rows = RowGroups([tmp_path], TREE, window=1)
    fitted, table = learn_preprocessing(rows, {rows.groups[0]: np.array([False, False, True])}, Preprocessor())
    assert fitted.means_.tolist() == [1.5]
    assert table is not None
    assert np.asarray(fitted.transform(table.X).sum()) > 5  # by the scale of the others


def test_an_interrupted_training_resumes(tmp_path: Path, files: list[Path]) -> None:
    whole = CHMCNNClassifier(TREE, **OPTIONS).fit(open_files(files))
    options = {**OPTIONS, "checkpoint": tmp_path / "state"}
    with pytest.raises(KeyboardInterrupt):
        CHMCNNClassifier(TREE, **options, verbose=interrupt).fit(open_files(files))
    resumed = CHMCNNClassifier(TREE, **options).fit(open_files(files))
    for mine, theirs in zip(resumed.network_.parameters(), whole.network_.parameters(), strict=True):
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize("change", ["words", "window"])
def test_a_training_does_not_resume_with_other_rows(tmp_path: Path, change: str) -> None:
    rows = write_shop(tmp_path)
    options = {**OPTIONS, "validation": 0, "checkpoint": tmp_path / "state", "threshold": 0.5}
    with pytest.raises(KeyboardInterrupt):
        CHMCNNClassifier(rows.hierarchy, **options, verbose=interrupt).fit(rows)
    if change == "words":
        table = pd.read_parquet(tmp_path / "shop.parquet")
        table["title"] = table["title"].str.replace("e", "x")  # as many words as before
        table.to_parquet(tmp_path / "shop.parquet", row_group_size=17)
    others = RowGroups(
        [tmp_path / "shop.parquet"],
        rows.hierarchy,
        id_column="sku",
        path_separator=">",
        window=33 if change == "window" else 32,
    )
    with pytest.raises(ChmcnnError, match="belongs to a training with other training rows"):
        CHMCNNClassifier(rows.hierarchy, **options).fit(others)


def test_one_window_is_in_memory_at_a_time(files: list[Path]) -> None:
    rows, most = open_files(files), 0
    gc.collect()
    gc.freeze()  # what is there already need not be looked at for each batch
    others = [each for each in gc.get_objects() if type(each) is Rows]  # of other tests

    def look() -> None:
        nonlocal most
        found = sum(len(each) for each in gc.get_objects() if type(each) is Rows)
        most = max(most, found - sum(map(len, others)))

    def prepare(part: Table) -> Rows:
        look()
        return Rows(torch.zeros(len(part), 1), part.Y)

    for _ in WindowedRows(rows, rows.draw(0.0, 0), Preprocessor(), prepare).batches(7):
        look()
    assert rows.window <= most < 2 * rows.window


def test_folders_and_patterns_are_files_too(files: list[Path]) -> None:
    folder = files[0].parent
    for paths in ([folder], [folder / "*.parquet"], [folder, files[0]]):
        assert open_files(paths).files == tuple(files)


def test_columns_of_classes_are_labels_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0], "dog": [1, 0], "cat": [0, 1]})
    frame.to_parquet(tmp_path / "my.parquet")
    rows = RowGroups([tmp_path], TREE, labels=["dog", "cat"])
    (_, table), *_ = rows.read(rows.groups[0])
    assert TREE.decode(table.Y, most_specific=True) == [{"dog"}, {"cat"}]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"size": "text"}, r"other.parquet: column 'size' is of type .*string, but of type double in .*part0.parquet"),
        ({"more": 1.0}, r"other.parquet: column 'more' is only in this file, and not in .*part0.parquet"),
        ({"labels": "dag"}, r"other.parquet, column .*row 1, column 'labels': Unknown class 'dag'"),
        ({"size": np.inf}, r"row 1, column 'size': the number is infinite"),
    ],
)
def test_a_file_that_differs_is_told(files: list[Path], change: dict[str, Any], told: str) -> None:
    make_table(30).assign(**change).to_parquet(files[0].with_name("other.parquet"))
    with pytest.raises(FileError, match=told):
        CHMCNNClassifier(TREE, **OPTIONS).fit(open_files([*files, files[0].with_name("other.parquet")]))


def test_damaged_files_are_named(files: list[Path]) -> None:
    content = files[1].read_bytes()
    rows = open_files(files)
    files[1].write_bytes(content[:200] + bytes(len(content) - 500) + content[-300:])
    with pytest.raises(FileError, match=r"part1.parquet: row group \d is not Parquet, or is damaged"):
        CHMCNNClassifier(TREE, **OPTIONS).fit(rows)
    files[1].write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match=r"part1.parquet: the file is not Parquet, or is damaged"):
        open_files(files)


def test_what_cannot_be_streamed_is_refused(tmp_path: Path, files: list[Path]) -> None:
    with pytest.raises(ChmcnnError, match="window is 0; expected 1 row or more"):
        open_files(files, window=0)
    with pytest.raises(ChmcnnError, match="nothing has no Parquet files"):
        open_files([tmp_path / "nothing"])
    (tmp_path / "my.csv").write_text("x,labels\n1,dog\n")
    with pytest.raises(FileError, match="only Parquet files can be streamed"):
        open_files([tmp_path / "my.csv"])
    with pytest.raises(ChmcnnError, match="preprocess= is a transformer, which files cannot be streamed through"):
        CHMCNNClassifier(TREE, preprocess=TfidfVectorizer(), **OPTIONS).fit(open_files(files))
    with pytest.raises(ChmcnnError, match="The hierarchy of the model differs from that of the rows"):
        CHMCNNClassifier(**OPTIONS).fit(open_files(files))
    with pytest.raises(ChmcnnError, match="omit y"):
        CHMCNNClassifier(TREE, **OPTIONS).fit(open_files(files), ["dog"])
    texts = pa.table({"title": [f"text {number}" for number in range(15_000)], "labels": ["dog"] * 15_000})
    parquet.write_table(texts, tmp_path / "texts.parquet")
    with pytest.raises(ChmcnnError, match="'title' has more than 10,000 different texts: names, or running text"):
        CHMCNNClassifier(TREE, **OPTIONS).fit(RowGroups([tmp_path / "texts.parquet"], TREE))

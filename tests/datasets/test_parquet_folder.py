"""A folder of Parquet files, read as one table."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from chmcnn import Hierarchy
from chmcnn.datasets import read_features, read_table
from chmcnn.errors import DatasetError, TableError

ANIMALS = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat")])
FIRST: dict[str, Any] = {"size": [1.0, 2.0], "colour": ["red", "grey"], "labels": ["dog", "cat"]}
SECOND: dict[str, Any] = {"size": [3.0], "colour": ["blue"], "labels": ["animal"]}


def write(folder: Path, **tables: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in tables.items():
        parquet.write_table(content if isinstance(content, pa.Table) else pa.table(content), folder / f"{name}.parquet")
    return folder


def test_the_files_of_a_folder_are_one_table_in_the_order_of_their_names(tmp_path: Path) -> None:
    folder = write(tmp_path / "parts", b=SECOND, a=FIRST, empty=pa.table(SECOND).slice(0, 0), _hidden={"x": [1]})
    (folder / "readme.txt").write_text("not a table")
    table = read_table(folder, ANIMALS, categorical=["colour"])
    assert table.X["size"].tolist() == [1, 2, 3]
    assert table.X["colour"].tolist() == ["red", "grey", "blue"]
    assert ANIMALS.decode(table.Y) == [{"animal", "dog"}, {"animal", "cat"}, {"animal"}]
    assert read_features(folder, columns=["size"]).shape == (3, 1)


def test_columns_may_have_another_order_and_other_categories(tmp_path: Path) -> None:
    first, second = (pd.DataFrame(part).astype({"colour": "category"}) for part in (FIRST, SECOND))
    tables = [
        pa.Table.from_pandas(part, preserve_index=False) for part in (first, second[["labels", "colour", "size"]])
    ]
    table = read_table(write(tmp_path / "parts", a=tables[0], b=tables[1]), ANIMALS)
    assert list(table.X.columns) == ["size", "colour"]
    assert table.X["colour"].tolist() == ["red", "grey", "blue"]


def test_sparse_features_of_several_files_are_one_matrix(tmp_path: Path) -> None:
    first = {"indices": [[0, 2], []], "values": [[1.0, 2.0], []], "labels": ["dog", "cat"]}
    second = {"indices": [[5]], "values": [[3.0]], "labels": ["animal"]}
    kinds = pa.schema({"indices": pa.list_(pa.int64()), "values": pa.list_(pa.float64()), "labels": pa.string()})
    folder = write(tmp_path / "parts", a=pa.table(first, schema=kinds), b=pa.table(second, schema=kinds))
    expected = [[1, 0, 2, 0, 0, 0], [0] * 6, [0, 0, 0, 0, 0, 3]]
    np.testing.assert_array_equal(read_table(folder, ANIMALS).X.toarray(), expected)


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ({"size": [3.0], "labels": ["dog"]}, "a.parquet: column 'colour' is only in this file, and not in .*b.parquet"),
        (SECOND | {"size": ["3"]}, "b.parquet: column 'size' is of type string, but of type double in .*a.parquet"),
        (SECOND | {"weight": [1]}, "b.parquet: column 'weight' is only in this file, and not in .*a.parquet"),
        (SECOND | {"labels": ["horse"]}, "b.parquet, column 3: row 1, column 'labels': Unknown class 'horse'"),
    ],
)
def test_files_that_do_not_fit_are_told(tmp_path: Path, second: dict[str, Any], told: str) -> None:
    folder = write(tmp_path / "parts", a=FIRST, b=second)
    with pytest.raises(TableError, match=told):
        read_table(folder, ANIMALS, categorical=["colour"])


def test_a_folder_without_rows_or_with_a_damaged_file_is_told(tmp_path: Path) -> None:
    folder = write(tmp_path / "parts")
    with pytest.raises(DatasetError, match="parts has no Parquet files"):
        read_table(folder, ANIMALS)
    write(folder, a=pa.table(SECOND).slice(0, 0))
    with pytest.raises(TableError, match="the files have no rows"):
        read_table(folder, ANIMALS)
    write(folder, b=FIRST)
    whole = (folder / "b.parquet").read_bytes()
    (folder / "b.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TableError, match=r"b\.parquet: the file is not Parquet, or is damaged"):
        read_table(folder, ANIMALS)

"""Parquet files, some rows at a time: which columns have text, and how many sparse features there are."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse
from tests.datasets.test_sparse_tables import NUMBERS, write_lists
from tests.estimator.texts import TABLE

from chmcnn import FileError, Hierarchy
from chmcnn.datasets import RowGroups, read_table

TREE = Hierarchy.from_paths(["a/b"])


def write_texts(path: Path, rows: int = 80, **columns: Any) -> Path:
    part = TABLE.iloc[:rows].reset_index(drop=True).assign(labels="a", **columns)
    part.to_parquet(path, row_group_size=16)
    return path


def join(rows: RowGroups) -> Any:
    return sparse.vstack([table.X for group in rows.groups for _, table in rows.read(group)]).toarray()


def test_running_text_is_found_by_the_first_cells(tmp_path: Path) -> None:
    degree = np.array(["bachelor of science", "master of arts"])[np.arange(80) % 2]  # in a single group, too
    file = write_texts(tmp_path / "my.parquet", degree=degree, empty=pd.array([None] * 80, dtype="str"))
    rows = RowGroups([file], TREE)
    assert (rows.named.categorical, rows.named.text) == (("shop", "degree", "empty"), ("title",))
    assert [table.X["title"].dtype for _, table in rows.read(rows.groups[1])] == ["string"]
    named = RowGroups([file], TREE, categorical=["title", "price"], text=["shop"]).named
    assert (named.categorical, named.text) == (("title", "price", "degree", "empty"), ("shop",))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"text": ["titel"]}, "there is no column 'titel'; did you mean 'title'?"),
        ({"text": "title"}, r"text is 'title'; expected a list of columns"),
        ({"text": ["title"], "categorical": ["title"]}, "categorical= and text= both name it"),
    ],
)
def test_columns_that_are_named_wrongly_are_told(tmp_path: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(FileError, match=told):
        RowGroups([write_texts(tmp_path / "my.parquet")], TREE, **options)


def test_columns_may_have_another_order_in_each_file(tmp_path: Path) -> None:
    table = pd.DataFrame({"a.b": [1.0, 2.0], "a": ["x", "y"], "labels": "a"})
    table.to_parquet(tmp_path / "0.parquet")
    table[["labels", "a", "a.b"]].to_parquet(tmp_path / "1.parquet")
    rows = RowGroups([tmp_path], TREE)
    for group in rows.groups:
        assert [[*found.X.columns] for _, found in rows.read(group)] == [["a.b", "a"]]


def test_sparse_features_have_the_same_number_in_all_groups(tmp_path: Path) -> None:
    write_lists(tmp_path / "0.parquet")
    content = {"indices": [[6], [1]], "values": [[1.0], [2.0]], "labels": [["3"], ["1"]]}
    parquet.write_table(pa.table(content), tmp_path / "1.parquet", row_group_size=1, write_statistics=False)
    rows = RowGroups([tmp_path], NUMBERS, window=2)
    assert rows.features == 7
    np.testing.assert_array_equal(join(rows), read_table(tmp_path, NUMBERS).X.toarray())
    kinds = {"indices": pa.int32(), "values": pa.float64(), "labels": pa.string()}
    nothing = pa.table({name: pa.array([[], None], pa.list_(kind)) for name, kind in kinds.items()})
    for statistics in (True, False):
        parquet.write_table(nothing, tmp_path / "0.parquet", write_statistics=statistics)
        assert RowGroups([tmp_path / "0.parquet"], NUMBERS).features == 1


def test_bad_sparse_features_are_told(tmp_path: Path) -> None:
    content = {"indices": [[0]] * 3 + [[1, 2]], "values": [[1.0]] * 4, "labels": [["3"]] * 4}
    parquet.write_table(pa.table(content), tmp_path / "my.parquet", row_group_size=2)
    rows = RowGroups([tmp_path], NUMBERS, window=1)
    with pytest.raises(FileError, match="row 4 has 2 places in 'indices', but 1 in 'values'"):
        join(rows)
    for option in ({"id_column": "labels"}, {"text": ["labels"]}):
        with pytest.raises(FileError, match=f"{next(iter(option))}= does not apply"):
            join(RowGroups([tmp_path], NUMBERS, **option))
    parquet.write_table(pa.table({**content, "size": [1.0] * 4}), tmp_path / "my.parquet")
    with pytest.raises(FileError, match="column 'size': the file has sparse features; drop this column"):
        join(RowGroups([tmp_path], NUMBERS, window=1))

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.datasets.tables import ANIMALS, PLAIN, refused, write

from chmcnn import Hierarchy, TableError
from chmcnn.datasets import Table, read_features, read_table
from chmcnn.datasets.columns import list_kinds
from chmcnn.datasets.parquet import has_checksums


def test_columns_that_are_not_needed_may_have_any_type(tmp_path: Path) -> None:
    others = {"junk": pa.nulls(2), "meta": pa.array([{"a": 1}, {"a": 2}]), "x.y": pa.array([1, 2])}
    path = tmp_path / "my.parquet"
    parquet.write_table(pa.table({"id": ["r", "s"], "size": [1.0, 2.0], **others}), path)
    found = read_features(path, columns=["size"], id_column="id")
    assert found["size"].to_dict() == {"r": 1.0, "s": 2.0}
    with pytest.raises(TableError, match="column 'junk' is of type null"):
        read_features(path, id_column="id")
    with pytest.raises(TableError, match="column 'meta' is of type struct"):
        read_features(path, columns=["size", "meta"], id_column="id")


def test_kinds_of_parquet_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None], dtype="Int64"),
            "flag": [True, False],
            "money": [Decimal("1.5"), None],
            "kind": pd.Categorical(["2", "1"], categories=["3", "2", "1"]),
            "word": ["NA", "x"],
            "labels": pd.array([1, None], dtype="Int64"),
        }
    )
    frame.to_parquet(tmp_path / "my.parquet")
    tree = Hierarchy.from_edges([("0", "1")])
    table = read_table(tmp_path / "my.parquet", tree)
    assert tree.decode(table.Y, most_specific=True) == [{"1"}, set()]
    np.testing.assert_array_equal(table.X[["whole", "flag", "money"]], [[1, 1, 1.5], [np.nan, 0, np.nan]])
    assert table.X["kind"].cat.categories.tolist() == ["3", "2", "1"]
    assert table.X["word"].isna().tolist() == [True, False]
    for name, values in {
        "time": pd.Series([pd.Timedelta(1, "D"), None]),
        "list": [[1, 2], [3]],
        "large": [2**53 + 1, 1],
        "words": [["a"], ["b"]],
        "inf": [np.inf, 1.0],
    }.items():
        pd.DataFrame({name: values, "labels": ["1", "1"]}).to_parquet(tmp_path / "bad.parquet")
        message = refused(tmp_path / "bad.parquet", hierarchy=tree)
        assert f"column {name!r}" in message


def test_parquet_with_lists_or_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": [1, 2], "kind": ["a", None], "labels": [["dog"], []]})
    frame.to_parquet(tmp_path / "my.parquet")
    table = read_table(tmp_path / "my.parquet", ANIMALS)
    assert table.X["size"].tolist() == [1.0, 2.0]
    assert table.X["kind"].cat.categories.tolist() == ["a"]
    assert ANIMALS.decode(table.Y, most_specific=True) == [{"dog"}, set()]
    frame.assign(labels=pd.Series(["dog;cat", None])).to_parquet(tmp_path / "text.parquet")
    assert ANIMALS.decode(read_table(tmp_path / "text.parquet", ANIMALS).Y, most_specific=True) == [
        {"dog", "cat"},
        set(),
    ]
    frame.assign(labels=["dog", "dag"]).to_parquet(tmp_path / "wrong.parquet")
    message = refused(tmp_path / "wrong.parquet", hierarchy=ANIMALS)
    assert message == (
        ", column 3: row 2, column 'labels': Unknown class 'dag'. Did you mean 'dog'? It is not in the hierarchy."
    )
    frame.iloc[:0].to_parquet(tmp_path / "empty.parquet")
    assert "the file has no rows" in refused(tmp_path / "empty.parquet", hierarchy=ANIMALS)
    assert "the file is not Parquet" in refused(write(tmp_path, PLAIN, "no.parquet"), hierarchy=ANIMALS)


def test_dates_and_text_of_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "time": pd.Series(["2020-01-01T06:00", None], dtype="datetime64[us]"),
            "zone": pd.to_datetime(["2020-01-01T06:00+06:00", ""]),
            "kind": pd.Categorical(["a", None]),
            "size": [1.0, 2.0],
            "labels": ["dog", "cat"],
        }
    )
    frame.to_parquet(tmp_path / "my.parquet")
    table = read_table(tmp_path / "my.parquet", ANIMALS, text=["kind"])
    assert list_kinds(table.X) == {"time": "dates", "zone": "dates", "kind": "text", "size": "numbers"}
    assert table.X["time"].tolist()[0] == pd.Timestamp("2020-01-01T06:00")
    assert table.X["zone"].tolist()[0] == pd.Timestamp("2020-01-01")
    message = refused(tmp_path / "my.parquet", hierarchy=ANIMALS, text=["size"])
    assert "column 'size': text= names it, but it has numbers" in message


def write_parquet(path: Path, **options: Any) -> None:
    columns = {"size": np.arange(500.0), "kind": ["dog", "cat"] * 250, "labels": ["dog", "cat"] * 250}
    parquet.write_table(pa.table(columns), path, compression="none", **options)


def test_a_flipped_bit_in_parquet_is_noticed_if_the_file_has_checksums(tmp_path: Path) -> None:
    path = tmp_path / "my.parquet"
    write_parquet(path, write_page_checksum=True)
    assert has_checksums(path)
    whole = path.read_bytes()
    pages = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for place in range(30, pages, pages // 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        assert "is not Parquet, or is damaged" in refused(path, hierarchy=ANIMALS)
    write_parquet(path)
    assert not has_checksums(path)


def test_our_own_parquet_files_have_checksums(tmp_path: Path) -> None:
    Table(np.eye(3), ["dog", "cat", "pet"], ANIMALS).to_parquet(tmp_path / "my.parquet")
    assert has_checksums(tmp_path / "my.parquet")


def test_parquet_with_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.parquet"
    write_parquet(path, use_dictionary=False)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"kind", b"k\xffnd"))
    assert "is not text in UTF-8" in refused(path, hierarchy=ANIMALS) or "damaged" in refused(path, hierarchy=ANIMALS)
    path.write_bytes(whole.replace(b"dog", b"d\xffg"))
    assert "column 'kind' cannot be used: " in refused(path, hierarchy=ANIMALS)

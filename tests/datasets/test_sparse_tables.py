import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from chmcnn import FileError, Hierarchy
from chmcnn.datasets import read_features, read_table

NUMBERS = Hierarchy.from_edges([("1", "3"), ("1", "17")])
SVMLIGHT = "# a comment\n3 1:0.5 4:2\n17,3 2:-1 # gene 2\n\n 1:1\n1\n"
EXPECTED = [[0, 0.5, 0, 0, 2], [0, 0, -1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0]]


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(FileError) as caught:
        read_table(path, **{"hierarchy": NUMBERS, **options})
    return str(caught.value)


def write_lists(path: Path, **columns: Any) -> Path:
    content = {"indices": [[4, 1], [], None], "values": [[2.0, 0.5], [], None], "labels": [["3"], [], ["17"]]}
    parquet.write_table(pa.table({**content, **columns}), path)
    return path


@pytest.mark.parametrize("name", ["my.svm", "my.svmlight", "my.libsvm"])
def test_svmlight_has_names_of_classes_and_numbered_features(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(SVMLIGHT)
    table = read_table(tmp_path / name, NUMBERS)
    assert isinstance(table.X, sparse.csr_array)
    np.testing.assert_array_equal(table.X.toarray(), EXPECTED)
    assert NUMBERS.decode(table.Y, most_specific=True) == [{"3"}, {"3", "17"}, set(), {"1"}]
    assert read_features(tmp_path / name, features=8).shape == (4, 8)
    assert "there are 4 features" in refused(tmp_path / name, features=4)
    assert "row 1 has feature 4" in refused(tmp_path / name, features=4)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("3 1:0.5\n3 1:x\n", "my.svm, line 2: the line cannot be read"),
        ("3 4:1 1:0.5\n", "my.svm, line 1: the line cannot be read: Feature indices"),
        ("3 1:1 1:2\n", "should be sorted and unique"),
        ("dog 1:1\n", "my.svm, line 1: the line cannot be read"),
        ("2.5 1:1\n", "row 1 has the label 2.5; expected a whole number"),
        ("3 1:inf\n", "row 1, column 1: the number is infinite"),
        ("99 1:1\n", "Unknown class '99'"),
        ("# nothing\n", "the file has no rows"),
    ],
)
def test_bad_svmlight_is_told(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "my.svm").write_text(text)
    assert told in refused(tmp_path / "my.svm")


def test_a_matrix_of_scipy_has_its_labels_in_another_file(tmp_path: Path) -> None:
    features, labels = sparse.csr_array(np.array([[0, 0.5], [2, 0]])), sparse.coo_array([[0, 1, 0], [0, 0, 1]])
    sparse.save_npz(tmp_path / "x.npz", features)
    sparse.save_npz(tmp_path / "y.npz", labels)
    (tmp_path / "y.csv").write_text("labels\n17\n3\n")
    for name in ("y.npz", "y.csv"):
        table = read_table(tmp_path / "x.npz", NUMBERS, label_file=tmp_path / name)
        np.testing.assert_array_equal(table.X.toarray(), features.toarray())
        assert NUMBERS.decode(table.Y, most_specific=True) == [{"17"}, {"3"}]
    assert "the matrix has features only: name the file with the labels in label_file=" in refused(tmp_path / "x.npz")
    assert "id_column= does not apply" in refused(tmp_path / "x.npz", label_file=tmp_path / "y.csv", id_column=0)
    (tmp_path / "y.csv").write_text("labels\n17\n")
    assert "the file has labels of 1 rows, but" in refused(tmp_path / "x.npz", label_file=tmp_path / "y.csv")
    sparse.save_npz(tmp_path / "y.npz", sparse.csr_array([[1, 0], [0, 1]]))
    wide = refused(tmp_path / "x.npz", label_file=tmp_path / "y.npz")
    assert re.search(r"y\.npz: Labels have shape \(2, 2\), but the hierarchy has 3 classes", wide)


def test_entries_may_be_unsorted_and_equal_ones_are_added_up(tmp_path: Path) -> None:
    matrix = sparse.csr_array(([1.0, 2.0, 4.0], [3, 0, 3], [0, 3]), shape=(1, 4))
    sparse.save_npz(tmp_path / "x.npz", matrix)
    found = read_features(tmp_path / "x.npz")
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), [[2, 0, 0, 5]])


def test_bad_matrices_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, x=np.eye(2))
    assert "the file has no sparse matrix; write one with scipy.sparse.save_npz" in refused(path)
    path.write_bytes(b"PK")
    assert "the file has no sparse matrix" in refused(path)
    damaged = sparse.csr_array(np.eye(2))
    damaged.indices[0] = 99
    sparse.save_npz(path, damaged)
    assert "the sparse matrix cannot be used" in refused(path)
    for kind in (sparse.csr_array, sparse.csc_array):
        backwards = kind(np.eye(3))
        backwards.indptr[:] = [0, 3, 2, 0]
        sparse.save_npz(path, backwards)
        assert "the sparse matrix cannot be used: its rows end before they begin" in refused(path)
    sparse.save_npz(path, sparse.csr_array([[np.inf]]))
    assert "row 1, column 0: the number is infinite" in refused(path)
    sparse.save_npz(path, sparse.csr_array([[1j]]))
    assert "the sparse matrix cannot be used" in refused(path)


def test_parquet_has_lists_of_entries(tmp_path: Path) -> None:
    table = read_table(write_lists(tmp_path / "my.parquet"), NUMBERS)
    np.testing.assert_array_equal(table.X.toarray(), [[0, 0.5, 0, 0, 2], [0] * 5, [0] * 5])
    assert NUMBERS.decode(table.Y, most_specific=True) == [{"3"}, set(), {"17"}]
    same = write_lists(tmp_path / "same.parquet", indices=[[4, 4], [], None])
    np.testing.assert_array_equal(read_features(same).toarray()[0], [0, 0, 0, 0, 2.5])


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"values": [[2.0], [], None]}, "row 1 has 2 places in 'indices', but 1 in 'values'"),
        ({"indices": [[-1, 2], [], None]}, "column 'indices' has the place -1; expected 0 or more"),
        ({"indices": [[2**62, 2], [], None]}, f"column 'indices' has the place {2**62}; expected at most 134217727"),
        ({"indices": [[None, 2], [], None]}, "column 'indices' has a list with a missing place"),
        ({"size": [1, 2, 3]}, "column 'size': the file has sparse features; drop this column"),
    ],
)
def test_bad_lists_of_entries_are_told(tmp_path: Path, columns: dict[str, Any], told: str) -> None:
    assert told in refused(write_lists(tmp_path / "my.parquet", **columns))


def test_nested_and_empty_columns_of_parquet_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.parquet"
    labels = pa.array(["3", "17"])
    for name, values, told in (
        ("parts", pa.array([{"a": 1}, {"a": 2}]), "make one column for each of its parts"),
        ("lists", pa.array([[[1]], [[2]]]), "make one column for each of its parts"),
        ("nothing", pa.nulls(2), "it has no value in any row; drop it"),
        ("bytes", pa.array([b"a", b"b"]), "convert or drop it"),
    ):
        parquet.write_table(pa.table({name: values, "labels": labels}), path)
        message = refused(path)
        assert f"column {name!r} is of type" in message
        assert told in message


def test_categories_and_lists_of_parquet_come_as_they_are(tmp_path: Path) -> None:
    content = {
        "kind": pa.array(["b", None, "a"]).dictionary_encode(),
        "count": pa.array([3, 3, None]).dictionary_encode(),
        "labels": pa.array([["3", "3"], None, ["17"]], pa.large_list(pa.string())),
    }
    parquet.write_table(pa.table(content), tmp_path / "my.parquet", row_group_size=1)
    table = read_table(tmp_path / "my.parquet", NUMBERS)
    assert isinstance(table.X["kind"].dtype, pd.CategoricalDtype)
    assert table.X["kind"].fillna("a").tolist() == ["b", "a", "a"]
    assert table.X["count"].fillna(0).tolist() == [3, 3, 0]
    assert NUMBERS.decode(table.Y, most_specific=True) == [{"3"}, set(), {"17"}]
    content["labels"] = pa.array([["3"], [None], ["17"]])
    parquet.write_table(pa.table(content), tmp_path / "my.parquet")
    assert "row 2, column 'labels': [None] has a label that is empty or not text" in refused(tmp_path / "my.parquet")

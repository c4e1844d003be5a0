"""Labels in every form, through both entrances: a `Table`, and the `fit` of an estimator."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse

from chmcnn import CHMCNNClassifier, Hierarchy, LabelError
from chmcnn.datasets import Table
from chmcnn.hierarchy import hierarchy_from_labels, label_matrix

ANIMALS = Hierarchy.from_edges([("animal", "bee"), ("animal", "cow"), ("1", "2"), ("1", "3")])
#                1, 2, 3, animal, bee, cow
BEE_AND_COW = [[0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 0, 1]]
TWO_AND_THREE = [[1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0]]
NOT_CLOSED = [[0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]
FEATURES = np.eye(2)


def through_table(labels: Any, hierarchy: Hierarchy = ANIMALS) -> None:
    Table(FEATURES, labels, hierarchy)


def through_fit(labels: Any, hierarchy: Hierarchy = ANIMALS) -> CHMCNNClassifier:
    model = CHMCNNClassifier(hierarchy, epochs=1, widths=(2,), validation=0, random_state=0)
    return model.fit(FEATURES, labels)


def object_array(rows: list[Any]) -> np.ndarray:
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


VALID = {
    "sets": ([{"bee"}, {"cow"}], BEE_AND_COW),
    "frozen sets in a tuple": ((frozenset({"bee"}), frozenset({"cow", "animal"})), BEE_AND_COW),
    "lists of names": ([["bee"], ["cow"]], BEE_AND_COW),
    "tuples of names": ([("bee",), ("cow",)], BEE_AND_COW),
    "array of names in each row": ([np.array(["bee"]), np.array(["cow"])], BEE_AND_COW),
    "series of sets": (pd.Series([{"bee"}, {"cow"}], index=[7, 3]), BEE_AND_COW),
    "array of sets": (object_array([{"bee"}, {"cow"}]), BEE_AND_COW),
    "a row without labels": ([{"bee"}, set()], [BEE_AND_COW[0], [0] * 6]),
    "one name per row": (["bee", "cow"], BEE_AND_COW),
    "array of names": (np.array(["bee", "cow"]), BEE_AND_COW),
    "array of name objects": (np.array(["bee", "cow"], dtype=object), BEE_AND_COW),
    "series of names": (pd.Series(["bee", "cow"]), BEE_AND_COW),
    "categorical series": (pd.Series(["bee", "cow"], dtype="category"), BEE_AND_COW),
    "index of names": (pd.Index(["bee", "cow"]), BEE_AND_COW),
    "numbers that are names": ([2, 3], TWO_AND_THREE),
    "array of numbers that are names": (np.array([2, 3]), TWO_AND_THREE),
    "floats that are names": (np.array([2.0, 3.0]), TWO_AND_THREE),
    "tensor of numbers that are names": (torch.tensor([2, 3]), TWO_AND_THREE),
    "matrix": (np.array(NOT_CLOSED), BEE_AND_COW),
    "boolean matrix": (np.array(NOT_CLOSED, dtype=bool), BEE_AND_COW),
    "matrix of floats": (np.array(NOT_CLOSED, dtype=np.float32), BEE_AND_COW),
    "tensor": (torch.tensor(NOT_CLOSED), BEE_AND_COW),
    "tensor of halves": (torch.tensor(NOT_CLOSED, dtype=torch.bfloat16), BEE_AND_COW),
    "sparse array": (sparse.csr_array(np.array(NOT_CLOSED)), BEE_AND_COW),
    "sparse array with entries out of order and twice": (
        sparse.csr_array((np.ones(4, dtype=bool), [4, 3, 3, 5], [0, 3, 4]), shape=(2, 6)),
        BEE_AND_COW,
    ),
    "sparse array with zeros": (sparse.csr_array(([1.0, 0.0, 1.0], [4, 1, 5], [0, 2, 3]), shape=(2, 6)), BEE_AND_COW),
    "sparse matrix": (sparse.coo_matrix(np.array(NOT_CLOSED)), BEE_AND_COW),
    "lists of 0 and 1": (NOT_CLOSED, BEE_AND_COW),
    "tuples of booleans": ([tuple(map(bool, row)) for row in NOT_CLOSED], BEE_AND_COW),
    "rows that are arrays": ([np.array(row) for row in NOT_CLOSED], BEE_AND_COW),
    "rows that are tensors": ([torch.tensor(row) for row in NOT_CLOSED], BEE_AND_COW),
    "frame": (pd.DataFrame(NOT_CLOSED, columns=ANIMALS.classes), BEE_AND_COW),
    "frame in another order": (pd.DataFrame(NOT_CLOSED, columns=ANIMALS.classes).iloc[:, ::-1], BEE_AND_COW),
    "frame with numbers as names": (
        pd.DataFrame(TWO_AND_THREE, columns=[1, 2, 3, "animal", "bee", "cow"]),
        TWO_AND_THREE,
    ),
}


@pytest.mark.parametrize(("labels", "expected"), VALID.values(), ids=VALID.keys())
def test_every_form_gives_the_same_closed_matrix_through_both_entrances(labels: Any, expected: list[list[int]]) -> None:
    matrix = Table(FEATURES, labels, ANIMALS).Y
    assert matrix.dtype == np.bool_
    assert isinstance(matrix, sparse.csr_array)
    assert matrix.indices.dtype == np.int32
    assert matrix.has_canonical_format
    assert matrix.toarray().astype(int).tolist() == expected
    predictions = through_fit(labels).predict_proba(FEATURES)
    np.testing.assert_array_equal(predictions, through_fit(np.array(expected)).predict_proba(FEATURES))


def test_an_iterator_is_read_once() -> None:
    assert label_matrix(iter([{"bee"}, {"cow"}]), ANIMALS).toarray().astype(int).tolist() == BEE_AND_COW


EXPECTED = "expected a label set or a name for each row, or a 0/1 matrix"
INVALID = {
    "unknown name": (["bee", "cwo"], r"Row 1: Unknown class 'cwo'\. Did you mean 'cow'\?"),
    "unknown name in a set": ([{"bee"}, {"cwo"}], r"Row 1: Unknown class 'cwo'\. Did you mean 'cow'\?"),
    "unknown number": ([2, 7], r"Row 1: Unknown class '7'\."),
    "fraction": ([2, 1.5], "Row 1 has the label 1.5, of type float; expected a class name, which is a string"),
    "missing name": (["bee", None], "Row 1 has the label None, of type NoneType; expected a class name"),
    "missing name in a series": (
        pd.Series(["bee", np.nan]),
        "Row 1 has the label nan, .* A row without classes has an",
    ),
    "names with a separator": (
        pd.Series(["bee", "bee; cow"]),
        r"'bee; cow' is 2 classes: split each row into a set, as by \.str\.split\('; '\)",
    ),
    "number in a set": ([{"bee"}, {2}], "Row 1 has the label 2, of type int; expected a class name"),
    "nested sets": ([["bee"], [["cow"]]], r"Row 1 has the label \['cow'\], of type list; expected a class name"),
    "names and numbers": ([["bee"], [0, 1]], "Row 1 has the label 0, of type int; expected a class name"),
    "mapping in a row": ([{"bee"}, {"cow": 1}], r"Row 1 has the label \{'cow': 1\}, of type dict"),
    "ragged rows": ([[0, 1, 0, 0, 0, 0], [0, 1]], "Row 1 of the labels has 2 cells, but row 0 has 6"),
    "too few columns": ([[0, 1], [1, 0]], r"Labels have shape \(2, 2\), but the hierarchy has 6 classes"),
    "three dimensions": (np.zeros((2, 6, 1)), r"Labels have shape \(2, 6, 1\), but the hierarchy has 6 classes"),
    "scores": (np.full((2, 6), 0.5), r"Labels have the value 0\.5 in row 0, class '1'; expected only 0 and 1"),
    "sparse scores": (sparse.csr_array(np.full((2, 6), 0.5)), r"Labels have the value 0\.5 in row 0, class '1'"),
    "sparse entries that add up": (
        sparse.csr_array(([1, 1, 1], [4, 4, 5], [0, 2, 3]), shape=(2, 6)),
        "Labels have the value 2 in row 0, class 'bee'; expected only 0 and 1",
    ),
    "sparse matrix of another width": (sparse.csr_array((2, 5)), r"Labels have shape \(2, 5\), but"),
    "matrix of names": (np.full((2, 6), "bee"), "Labels have the value 'bee' in row 0, class '1'; expected only 0"),
    "matrix of objects": (np.full((2, 6), "bee", dtype=object), "Labels have the value 'bee' in row 0, class '1'"),
    "frame without a class": (
        pd.DataFrame(NOT_CLOSED, columns=ANIMALS.classes).drop(columns="cow"),
        "The labels have no column 'cow', which is a class of the hierarchy",
    ),
    "frame with another column": (
        pd.DataFrame(NOT_CLOSED, columns=ANIMALS.classes).assign(dog=0),
        "The labels have a column 'dog', which is not a class of the hierarchy",
    ),
    "frame with a column twice": (
        pd.DataFrame([[0] * 7] * 2, columns=[*ANIMALS.classes, "cow"]),
        "The labels have two columns 'cow'",
    ),
    "nothing": ([], "The labels are empty"),
    "empty array": (np.array([]), "The labels are empty"),
    "one name": ("bee", f"Labels are 'bee', of type str; {EXPECTED}"),
    "one number": (5, f"Labels are 5, of type int; {EXPECTED}"),
    "array without dimensions": (np.array(5), f"of type ndarray; {EXPECTED}"),
    "one set": ({"bee", "cow"}, f"of type set; {EXPECTED}"),
    "mapping": ({"bee": [0, 1], "cow": [1, 0]}, f"of type dict; {EXPECTED}"),
}


@pytest.mark.parametrize("entrance", [through_table, through_fit])
@pytest.mark.parametrize(("labels", "message"), INVALID.values(), ids=INVALID.keys())
def test_the_same_mistake_gets_the_same_message(entrance: Callable[..., object], labels: Any, message: str) -> None:
    with pytest.raises(LabelError, match=f"^{message}" if message[0].isupper() else message):
        entrance(labels)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([{"a/b", "c"}, {"a"}], ("a", "a/b", "c")),
        (["a/b", "c"], ("a", "a/b", "c")),
        (np.array([10, 2]), ("10", "2")),
        (pd.DataFrame({"a/b": [0, 1], "c": [1, 0]}), ("a", "a/b", "c")),
    ],
)
def test_paths_make_the_hierarchy(labels: Any, classes: tuple[str, ...]) -> None:
    assert hierarchy_from_labels(labels).classes == classes


@pytest.mark.parametrize("labels", [np.eye(2), [[0, 1], [1, 0]], sparse.eye_array(2), torch.eye(2)])
def test_a_matrix_without_names_makes_no_hierarchy(labels: Any) -> None:
    with pytest.raises(LabelError, match=r"The labels are a 0/1 matrix without class names: pass hierarchy=, or label"):
        hierarchy_from_labels(labels)


@pytest.mark.parametrize(
    ("labels", "separator", "classes"),
    [
        (["sport / tennis", "sport"], "/", ("sport", "sport/tennis")),
        ([{"sport > tennis", "sport>football"}], ">", ("sport", "sport>football", "sport>tennis")),
        (["Topic :: Internet :: Mail"], "::", ("Topic", "Topic::Internet", "Topic::Internet::Mail")),
        ([{"a / b"}, set()], "/", ("a", "a/b")),
    ],
)
def test_parts_of_paths_are_trimmed(labels: Any, separator: str, classes: tuple[str, ...]) -> None:
    hierarchy = hierarchy_from_labels(labels, separator)
    assert hierarchy.classes == classes
    matrix = label_matrix(labels, hierarchy, path_separator=separator)
    assert matrix[[0]].nnz >= 2


def test_a_name_that_the_hierarchy_has_is_not_trimmed() -> None:
    hierarchy = Hierarchy.from_edges([("a", "a / b"), ("a", "a/b")])
    matrix = label_matrix(["a / b", "a/b", "a /b"], hierarchy, path_separator="/")
    assert hierarchy.decode(matrix, most_specific=True) == [{"a / b"}, {"a/b"}, {"a/b"}]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (
            ["sport > tennis", "sport > football", "sport"],
            "'sport > football' seems to be '>', so pass",
        ),
        ([{"Topic :: Internet"}], "seems to be '::', so pass path_separator='::'; otherwise pass hierarchy="),
        (["dog", "cat"], "no label is a path with '/': pass hierarchy=, with edges"),
        ([{"dog"}, set()], "no label is a path with '/': pass hierarchy="),
        ([set(), set()], "no label is a path with '/': pass hierarchy="),
    ],
)
def test_labels_that_are_no_paths_make_no_hierarchy(labels: Any, told: str) -> None:
    with pytest.raises(LabelError, match=re.escape(told)):
        hierarchy_from_labels(labels)
    with pytest.raises(LabelError, match=re.escape(told)):
        CHMCNNClassifier(epochs=1).fit(np.eye(len(labels)), labels)


def test_a_separator_must_be_text() -> None:
    for wrong in ("", " ", None, 1):
        with pytest.raises(ValueError, match=f"path_separator is {wrong!r}; expected a string, such as '/' or '>'"):
            CHMCNNClassifier(path_separator=wrong).fit(np.eye(2), ["a/b", "a/c"])  # type: ignore[arg-type]

import copy
import itertools
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.untyped import untyped

from chmcnn import DatasetError, Hierarchy, LabelError
from chmcnn.datasets import Dataset, Table, split

TREE = Hierarchy.from_paths(["a/b", "c"])


def table(rows: int = 10, *, columns: str = "xy", hierarchy: Hierarchy = TREE, source: str = "") -> Table:
    frame = pd.DataFrame(np.arange(rows * len(columns), dtype=float).reshape(rows, -1), columns=list(columns))
    return Table(frame, [{hierarchy.classes[-1]}] * rows, hierarchy, source)


@pytest.mark.parametrize(
    "labels",
    [
        [{"a/b"}, set()],
        [["a/b"], []],
        ({"a/b"}, frozenset()),
        [[0, 1, 0], [0, 0, 0]],
        np.array([[0, 1, 0], [0, 0, 0]]),
        sparse.csr_array(np.array([[0, 1, 0], [0, 0, 0]])),
        sparse.coo_matrix(np.array([[0, 1, 0], [0, 0, 0]])),
    ],
)
def test_labels_of_any_form_are_closed(labels: object) -> None:
    found = Table(np.zeros((2, 1)), labels, TREE).Y
    assert found.toarray().tolist() == [[True, True, False], [False, False, False]]


@pytest.mark.parametrize("features", [np.eye(3), sparse.csr_array(np.eye(3)), pd.DataFrame(np.eye(3)), [[1], [2], [3]]])
def test_features_of_any_form_are_kept(features: Any) -> None:
    found = Table(features, [{"c"}] * 3, TREE)
    assert len(found) == 3
    assert len(found.feature_names) == found.X.shape[1]
    assert type(found.take([2, 0]).X) is type(found.X)
    assert found.take([2, 0]).X.shape[0] == 2


def test_nothing_changes_a_table() -> None:
    array = np.zeros((3, 2))
    found = Table(array, np.zeros((3, 3), dtype=bool), TREE)
    with pytest.raises(ValueError, match="read-only"):
        found.X[0, 0] = 1
    array[0, 0] = 5  # the array of the user stays writable
    frame = table()
    taken = frame.X
    taken.loc[0, "x"] = 99.0
    assert frame.X.loc[0, "x"] == 0
    thin = Table(sparse.csr_array(np.eye(3)), sparse.csr_array(np.eye(3)), TREE)
    for part in (thin.X, thin.Y):
        with pytest.raises(ValueError, match="read-only"):
            part.data[0] = 0
    with pytest.raises(AttributeError):
        untyped(frame).source = "other"


def test_tables_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(DatasetError, match="X has 2 rows, but Y has 3"):
        Table(np.zeros((2, 1)), [set()] * 3, TREE)
    with pytest.raises(DatasetError, match=re.escape("X has shape (2,); expected (rows, features)")):
        Table(np.zeros(2), [set()] * 2, TREE)
    with pytest.raises(DatasetError, match="X has two columns 'x'"):
        Table(pd.DataFrame([[1, 2]], columns=["x", "x"]), [set()], TREE)
    with pytest.raises(DatasetError, match="hierarchy is 'x'; expected a Hierarchy"):
        Table(np.zeros((2, 1)), [set()] * 2, untyped("x"))
    thin = Table(sparse.csr_array(np.eye(2)), [set()] * 2, TREE)
    full = Table(np.eye(2), [set()] * 2, TREE)
    with pytest.raises(DatasetError, match="One part has sparse features, another part dense ones"):
        Dataset("mine", full, thin, full)
    with pytest.raises(DatasetError, match="valid is of type ndarray; expected a Table"):
        Dataset("mine", full, untyped(np.eye(2)), full)
    with pytest.raises(LabelError, match="Row 0: Unknown class 'd'"):
        Table(np.zeros((1, 1)), [{"d"}], TREE)


def test_all_classes_of_a_data_set_count_unless_it_says_otherwise() -> None:
    tree = Hierarchy.from_edges([("root", "GO0008150"), ("GO0008150", "GO0000001"), ("root", "other")])
    part = table(hierarchy=tree)
    data = Dataset("mine", part, part, part)
    assert data.evaluated.all()
    with pytest.raises(ValueError, match="read-only"):
        data.evaluated[0] = True
    own = Dataset("mine", part, part, part, evaluated=tree.depths > 0)
    assert own.evaluated.tolist() == [True, True, True, False]
    for wrong in (np.ones(2, dtype=bool), np.ones(4), np.array(["a"] * 4)):
        with pytest.raises(DatasetError, match=r"expected \(4,\) and bool, one for each class"):
            Dataset("mine", part, part, part, evaluated=untyped(wrong))


def test_a_file_that_is_not_verified_shows_in_the_title() -> None:
    part = table()
    assert Dataset("expr", part, part, part).title == "expr"
    other = Table(part.X, part.Y, TREE, "mine.arff", verified=False)
    data = Dataset("expr", other, part, part)
    assert data.title == "expr (not verified)"
    assert data.unverified == ("mine.arff",)
    assert "expr (not verified)" in repr(data)
    assert repr(other.take([1])) == "Table(1 row, 2 features, 3 classes, not verified)"
    assert not pickle.loads(pickle.dumps(other)).verified


def test_copies_do_not_change_either() -> None:
    first = Table(np.zeros((3, 2)), sparse.csr_array(np.eye(3)), TREE)
    for copied in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        with pytest.raises(ValueError, match="read-only"):
            copied.X[0, 0] = 1
    untyped(first.Y).resize((1, 3))
    first.Y.data = np.zeros(3)
    assert first.Y.shape == (3, 3)
    assert first.Y.sum() == 4
    first.Y.sum_duplicates()
    first.Y.sort_indices()


def test_a_frame_of_labels_is_taken_by_the_names_of_its_columns() -> None:
    labels = pd.DataFrame({"c": [1, 0], "a/b": [0, 1], "a": [0, 1]})
    assert Table(np.zeros((2, 1)), labels, TREE).Y.toarray().tolist() == [[False, False, True], [True, True, False]]
    without_parent = Table(np.zeros((2, 1)), labels.drop(columns="a"), TREE)  # which is added
    assert without_parent.Y.toarray().tolist() == [[False, False, True], [True, True, False]]
    with pytest.raises(LabelError, match="The labels have no column 'c', which is a class of the hierarchy"):
        Table(np.zeros((2, 1)), labels.drop(columns="c"), TREE)
    named = pd.DataFrame({"x": [1.0, 2.0]}, index=["r", "s"])
    Table(named, labels.set_axis(["r", "s"], axis=0), TREE)
    with pytest.raises(DatasetError, match="X and Y have different indexes"):
        Table(named, labels.set_axis(["s", "r"], axis=0), TREE)
    sets = pd.Series([{"a"}, {"c"}])
    assert Table(np.zeros((2, 1)), sets, TREE).Y.toarray().tolist() == [[True, False, False], [False, False, True]]


def test_parts_with_other_columns_or_classes_are_refused() -> None:
    train = table(source="train.csv")
    with pytest.raises(
        DatasetError, match=r"test\.csv has different columns than train\.csv: it has no 'y' and it adds 'z'"
    ):
        Dataset("mine", train, train, table(columns="xz", source="test.csv"))
    with pytest.raises(DatasetError, match="their order differs"):
        Dataset("mine", train, train, table(columns="yx"))
    with pytest.raises(DatasetError, match=r"has no 'x' and it adds 'u' \(4 differences in all\)"):
        Dataset("mine", train, table(columns="uv"), train)
    with pytest.raises(DatasetError, match=r"only one of them has 'a'\. Read all parts with the same hierarchy"):
        Dataset("mine", train, train, table(hierarchy=Hierarchy.from_paths(["c"])))
    with pytest.raises(DatasetError, match="their edges or their order differ"):
        Dataset("mine", train, train, table(hierarchy=Hierarchy.from_edges([("c", "a")], classes=TREE.classes)))


def test_numbers_in_one_part_and_categories_in_another_are_refused() -> None:
    train = table(source="train.csv")
    other = Table(train.X.assign(y="word"), train.Y, TREE, "test.csv")
    with pytest.raises(DatasetError, match=r"'y' has numbers in train\.csv, but categories in test\.csv; name it"):
        Dataset("mine", train, train, other)
    Dataset("mine", train, train, Table(train.X.assign(y=np.nan), train.Y, TREE))


def test_splitting_keeps_every_row_once_and_follows_the_seed() -> None:
    whole = table(100)
    parts = split(whole, 0.5, 0.3, 0.2, seed=4)
    assert [len(part) for part in parts] == [50, 30, 20]
    rows = [part.X.index.tolist() for part in parts]
    assert sorted(itertools.chain.from_iterable(rows)) == list(range(100))
    assert all(part == sorted(part) for part in rows)
    assert [part.X.index.tolist() for part in split(whole, 0.5, 0.3, 0.2, seed=4)] == rows
    assert [part.X.index.tolist() for part in split(whole, 0.5, 0.3, 0.2, seed=5)] != rows


def test_shares_that_cannot_be_had_are_refused() -> None:
    for shares in ((0.5, 0.4), (1.5, -0.5), ()):
        with pytest.raises(DatasetError, match="expected positive numbers that add up to 1"):
            split(table(), *shares)
    with pytest.raises(DatasetError, match="1 row cannot be split into shares of"):
        split(table(1), 0.7, 0.3)


def test_a_list_of_texts_is_a_table_of_one_column() -> None:
    texts = Table(["red shoes", "", "a hat"], ["a/b", "c", "c"], TREE)
    assert texts.feature_names == ("text",)
    assert texts.take([2]).X["text"].tolist() == ["a hat"]
    assert len(pickle.loads(pickle.dumps(texts))) == 3


def test_kinds_of_strings_differ_only_if_they_are_declared() -> None:
    words = pd.DataFrame({"x": [f"the {number} red shoes" for number in range(10)]})
    few = pd.DataFrame({"x": ["red"] * 10})
    labels = ["a/b"] * 10
    Dataset("d", Table(words, labels, TREE), Table(few, labels, TREE), Table(few.astype("string"), labels, TREE))
    declared = Table(words.astype("string"), labels, TREE), Table(few.astype("category"), labels, TREE)
    with pytest.raises(DatasetError, match="'x' has text in the training part, but categories in another part"):
        Dataset("d", declared[0], declared[1], declared[1])

"""Which rows are trained on, and which are tested on."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from chmcnn import DatasetError, Hierarchy
from chmcnn.comparison._splits import Source, Split
from chmcnn.datasets import Table
from chmcnn.datasets.synthetic import learnable

TREE = Hierarchy.from_edges([("a", "b"), ("a", "c")])
ROWS = np.arange(20.0).reshape(10, 2)
TABLE = Table(ROWS, [{"b"}, {"c"}] * 5, TREE)


def test_a_data_set_has_its_own_test_rows_and_a_table_draws_them_with_the_seed() -> None:
    data = learnable(rows=50, features=3, classes=5, depth=2)
    own = Source("own", data)
    assert own.split(0).test is own.split(1).test is data.test
    assert own.has_test_rows
    table = Source("table", TABLE)
    first, again, other = (table.split(seed) for seed in (0, 0, 1))
    assert (len(first.train), len(first.test), first.valid) == (8, 2, None)
    assert np.array_equal(first.test.X, again.test.X)
    assert not np.array_equal(first.test.X, other.test.X)
    assert not table.has_test_rows


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sparse.csr_array], ids=["array", "frame", "sparse"])
def test_folds_test_on_each_row_once(kind: type) -> None:
    source = Source("table", Table(kind(ROWS), TABLE.Y, TREE))
    folds = [source.fold(number, 3) for number in range(3)]
    assert [len(fold.train) + len(fold.test) for fold in folds] == [10] * 3
    tested = [fold.test.X for fold in folds]
    found = np.concatenate([x.toarray() if isinstance(x, sparse.csr_array) else np.asarray(x) for x in tested])
    assert sorted(found[:, 0].tolist()) == ROWS[:, 0].tolist()


def test_folds_of_a_data_set_leave_its_test_rows_alone() -> None:
    data = learnable(rows=50, features=3, classes=5, depth=2)
    fold = Source("own", data).fold(0, 4)
    assert len(fold.train) + len(fold.test) == len(data.train) + len(data.valid)
    assert not set(map(tuple, data.test.X)) & {*map(tuple, fold.train.X), *map(tuple, fold.test.X)}


def test_too_few_rows_for_the_folds_are_refused() -> None:
    with pytest.raises(DatasetError, match=r"mine has 10 rows, too few for 6 folds of at least 2 rows; use fewer"):
        Source("mine", TABLE).fold(0, 6)
    rare = Table(ROWS, [{"b"}, *[set[str]()] * 9], TREE)
    with pytest.raises(DatasetError, match=r"mine has 2 rows in fold \d of 5, but none has a class"):
        [Source("mine", rare).fold(number, 5) for number in range(5)]


@pytest.mark.parametrize(
    "other",
    [
        Table(ROWS + 1, TABLE.Y, TREE),
        Table(ROWS, [{"c"}, {"b"}] * 5, TREE),
        Table(pd.DataFrame(ROWS, columns=["p", "q"]), TABLE.Y, TREE),
        Table(ROWS, TABLE.Y, Hierarchy.from_edges([("a", "b"), ("b", "c")])),
    ],
    ids=["features", "labels", "columns", "edges"],
)
def test_other_data_has_another_digest(other: Table) -> None:
    assert Source("mine", TABLE).digest() == Source("mine", Table(ROWS.copy(), TABLE.Y, TREE)).digest()
    assert Source("mine", TABLE).digest() != Source("mine", other).digest()


def test_a_data_set_by_name_is_loaded_when_it_is_needed() -> None:
    source = Source("digits")
    assert source.load().data is not None
    assert source.digest() == source.load().digest()
    assert source.sizes() == source.load().sizes() == {"rows": 1797, "features": 64, "classes": 19}


def test_the_sizes_are_those_of_the_rows_in_use() -> None:
    data = learnable(rows=50, features=3, classes=5, depth=2)
    sizes = {"features": 3, "classes": 5}
    assert Source("own", data).sizes() == {"rows": 50, **sizes}
    assert Source("own", data).sizes(folds=True) == {"rows": len(data.train) + len(data.valid), **sizes}
    assert Source("table", data.train).sizes(folds=True) == {"rows": len(data.train), **sizes}


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sparse.csr_array], ids=["array", "frame", "sparse"])
def test_a_split_can_have_no_test_rows(kind: type) -> None:
    table = Table(kind(ROWS), TABLE.Y, TREE)
    split = Split.without_test(table)
    assert (split.train, split.valid, len(split.test), split.evaluated) == (table, None, 0, None)
    data = learnable(rows=50, features=3, classes=5, depth=2)
    split = Split.without_test(data)
    assert (split.train, split.valid, len(split.test)) == (data.train, data.valid, 0)

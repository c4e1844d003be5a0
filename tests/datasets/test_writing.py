from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.strategies import hierarchies

from chmcnn import ChmcnnError, DatasetError, Hierarchy
from chmcnn.datasets import Table, read_table

TREE = Hierarchy.from_paths(["a/b", "c"])
FRAME = pd.DataFrame(
    {"x": [1.5, np.nan], "kind": pd.Categorical(["u, v", None]), "count": [1, 2], "yes": [True, False]},
    index=pd.Index(["first", "second"], name="gene"),
)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=5)
DAYS = st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)).map(lambda day: day.replace(microsecond=0))  # noqa: DTZ001
WORD = TEXT.map(lambda text: f"w{text.strip()}")


def same(first: Table, second: Table) -> None:
    assert np.array_equal(first.Y.toarray(), second.Y.toarray())
    assert first.hierarchy == second.hierarchy
    assert first.feature_names == second.feature_names
    for name in first.feature_names:
        one, two = first.X[name], second.X[name]
        assert one.isna().tolist() == two.isna().tolist()
        assert one.dropna().tolist() == two.dropna().tolist()


def write(table: Table, path: Path, **options: Any) -> None:
    (table.to_parquet if path.suffix == ".parquet" else table.to_csv)(path, **options)


@pytest.mark.parametrize("name", ["my.csv", "my.tsv", "my.csv.gz", "my.txt.gz", "my.parquet"])
def test_a_table_is_read_back_the_same(tmp_path: Path, name: str) -> None:
    table = Table(FRAME, [{"a/b", "c"}, set()], TREE)
    write(table, tmp_path / name)
    again = read_table(tmp_path / name, TREE, id_column="gene")
    same(table, again)
    assert again.X.index.tolist() == ["first", "second"]
    assert again.X.index.name == "gene"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@settings(max_examples=30)
@given(data=st.data(), name=st.sampled_from(["my.csv", "my.tsv", "my.parquet"]))
def test_any_table_is_read_back_the_same(tmp_path: Path, data: st.DataObject, name: str) -> None:
    hierarchy = data.draw(hierarchies(max_classes=6))
    rows = data.draw(st.integers(1, 6))
    lists: dict[str, Any] = {"min_size": rows, "max_size": rows}
    frame = pd.DataFrame(
        {
            "x": data.draw(st.lists(st.floats(-1e154, 1e154) | st.just(float("nan")), **lists)),
            data.draw(WORD): pd.Series(data.draw(st.lists(st.none() | WORD, **lists)), dtype=object)
            .astype("category")
            .array,
            "text": pd.Series(data.draw(st.lists(st.none() | TEXT, **lists)), dtype="string").array,
            "day": pd.Series(data.draw(st.lists(st.none() | DAYS, **lists)), dtype="datetime64[us]").array,
        },
        index=pd.Index(data.draw(st.lists(WORD, **lists, unique=True)), name="id"),
    )
    sets = data.draw(st.lists(st.sets(st.sampled_from(hierarchy.classes)), **lists))
    table = Table(frame, sets, hierarchy)
    write(table, tmp_path / name, force=True)
    options: dict[str, Any] = {"id_column": "id", "categorical": [frame.columns[1]], "text": ["text"]}
    again = read_table(tmp_path / name, hierarchy, **options)
    same(table, again)
    assert again.X.index.tolist() == frame.index.tolist()


def test_rows_without_names_and_arrays(tmp_path: Path) -> None:
    table = Table(np.array([[0.1, 2], [3, 4], [5, 6]], dtype=np.float32), [{"c"}, {"a"}, {"a"}], TREE).take([2, 0])
    table.to_csv(tmp_path / "my.csv", labels="classes", separator="|")
    assert (tmp_path / "my.csv").read_text().splitlines()[0] == "x0,x1,classes"
    again = read_table(tmp_path / "my.csv", TREE, labels="classes", separator="|")
    assert np.array_equal(again.X.to_numpy(), table.X.astype(np.float64))
    frame = Table(FRAME.reset_index(drop=True), [{"c"}, {"c"}], TREE).take([1])
    frame.to_parquet(tmp_path / "my.parquet")
    assert "id" not in pd.read_parquet(tmp_path / "my.parquet")


def test_parquet_keeps_what_text_does_not(tmp_path: Path) -> None:
    odd = Hierarchy(["a;b", " c "], [])
    table = Table(pd.DataFrame({"kind": pd.Categorical(["NA", "1"])}), [{"a;b", " c "}, {" c "}], odd)
    table.to_parquet(tmp_path / "my.parquet")
    same(table, read_table(tmp_path / "my.parquet", odd))
    with pytest.raises(DatasetError, match=r"Column 'kind' has 'NA', which a text file does not keep; .*to_parquet\."):
        table.to_csv(tmp_path / "my.csv")
    with pytest.raises(DatasetError, match=r"The class 'a;b' cannot be written with the separator ';'; use another"):
        Table(np.eye(1), [{"a;b"}], odd).to_csv(tmp_path / "my.csv")


@pytest.mark.parametrize(
    ("frame", "path", "options", "told"),
    [
        (FRAME.rename(columns={"x": "labels"}), "my.csv", {}, "There would be two columns 'labels'"),
        (FRAME.rename(columns={"x": "gene"}), "my.csv", {}, "There would be two columns 'gene'"),
        (FRAME.rename(columns={"x": " x"}), "my.csv", {}, "The header has ' x', which a text file does not keep"),
        (FRAME.assign(x=[np.inf, 1]), "my.csv", {}, "Column 'x' has an infinite number in row 0"),
        (FRAME.set_axis(["a", "a"]), "my.csv", {}, "The index has missing or equal names"),
        (FRAME.set_axis(["", "a"]), "my.csv", {}, "The index has ''"),
        (FRAME, "my.csv", {"separator": ""}, "The separator of labels is ''"),
        (FRAME, "my.json", {}, "has the ending '.json'; expected one of .csv, .tsv"),
        (FRAME, "old.csv", {}, r"old\.csv already exists; choose another file, or use force=True"),
        (FRAME, "folder.csv", {}, "is a folder"),
        (FRAME, "old.csv/x.csv", {}, "cannot be written"),
        (sparse.csr_array(np.eye(2)), "my.csv", {}, "The features are sparse, with 2 columns"),
    ],
)
def test_bad_input_is_told_and_nothing_is_written(
    tmp_path: Path, frame: Any, path: str, options: dict[str, Any], told: str
) -> None:
    (tmp_path / "old.csv").write_text("mine")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ChmcnnError, match=told):
        Table(frame, [{"c"}, {"a"}], TREE).to_csv(tmp_path / path, **options)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.csv", "old.csv"]
    assert (tmp_path / "old.csv").read_text() == "mine"


def test_parquet_has_its_own_endings(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"has the ending '\.csv'; expected \.parquet or \.pq"):
        Table(FRAME, [{"c"}, {"a"}], TREE).to_parquet(tmp_path / "my.csv")

"""Tables of any bytes: data or one kind of error, and what pandas wrote is read back the same."""

from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
from benchmarks.fuzz_alterations import alter_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from chmcnn import FileError, Hierarchy
from chmcnn.datasets import obo, read_table

TREE = Hierarchy.from_paths(["a/b", "c"])
GOOD = b'x,kind,labels\n1.5,"u, v",a/b\n,w,c;a\n-2e3,?,\n'
OBO = b"format-version: 1.2\n\n[Term]\nid: T:1\nname: one\n\n[Term]\nid: T:2\nis_a: T:1 ! one\nalt_id: T:3\n"
anywhere = settings(max_examples=60)


@anywhere
@given(random=st.randoms(use_true_random=False))
def test_a_corrupted_table_is_read_or_refused(tmp_path: Path, random: Random) -> None:
    path = tmp_path / "my.csv"
    path.write_bytes(alter_bytes(random, GOOD))
    try:
        table = read_table(path, TREE)
    except FileError as error:
        assert error.path == path
        return
    assert len(TREE.violations(table.Y)) == 0
    for column in table.X:
        values = table.X[column]
        assert isinstance(values.dtype, pd.CategoricalDtype) or not np.isinf(values).any()


@anywhere
@given(random=st.randoms(use_true_random=False))
def test_a_corrupted_ontology_is_read_or_refused(tmp_path: Path, random: Random) -> None:
    path = tmp_path / "my.obo"
    path.write_bytes(alter_bytes(random, OBO))
    try:
        found = obo.read(path)
    except FileError as error:
        assert error.path == path
        return
    assert set(found.names) == set(found.hierarchy)


@anywhere
@given(
    numbers=st.lists(st.floats(-1e154, 1e154) | st.just(float("nan")), min_size=1, max_size=8),
    words=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1).map(
            lambda t: f"w{t.strip()}"
        ),
        min_size=8,
        max_size=8,
    ),
)
def test_what_pandas_wrote_is_read_back(tmp_path: Path, numbers: list[float], words: list[str]) -> None:
    frame = pd.DataFrame({"x": numbers, "kind": words[: len(numbers)], "labels": "c"})
    frame.to_csv(tmp_path / "my.csv", index=False, lineterminator="\n")
    found = read_table(tmp_path / "my.csv", TREE).X
    np.testing.assert_array_equal(found["x"], frame["x"])
    assert found["kind"].tolist() == frame["kind"].tolist()

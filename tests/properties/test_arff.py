"""Whatever is in a file: it is read, the same in both ways, or refused with its place."""

import math
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.datasets.arff.test_reader import EVERYTHING, HEAD
from tests.strategies import hierarchies

from chmcnn import ArffError
from chmcnn.datasets.arff import Arff, read, reader, write

VALID = [EVERYTHING, HEAD + "1,dog,1/1@1\n?,cat,1\n{0 3, 2 1}\n", HEAD + "1,dog,1\n2.5,?,1/1\n-1e3,cat,1@1/1\n" * 3]
WORDS = [
    "'",
    '"',
    "{",
    "}",
    ",",
    "%",
    "?",
    "@",
    "\\",
    "\n",
    "\r",
    " ",
    "\t",
    "0",
    "9",
    "-",
    ".",
    "e",
    "nan",
    "inf",
    "1_0",
]
WORDS += ["@data", "@attribute", "hierarchical", "\x00", "\x1c", "\u2028", "ÿ", "\uff11", "True", "0x1", "1d5", "/"]
own_folder = settings(max_examples=100)


@st.composite
def corrupted(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + draw(st.integers(0, 30)))))
        text = text[:start] + draw(st.sampled_from(["", *WORDS])) + text[end:]
    return text


def attempt(file: Path) -> Arff | ArffError:
    try:
        return read(file)
    except ArffError as problem:
        error = problem
    assert error.path == file
    assert error.column is not None
    assert error.line is not None
    assert 1 <= error.line <= file.read_bytes().count(b"\n") + 1
    return error


@own_folder
@given(text=corrupted())
@example(text=HEAD + "1 ,dog,1\n")
@example(text=HEAD + "True,dog,1\n")
@example(text=HEAD + "1,dog,1\r\n")
def test_a_corrupted_file_is_read_alike_in_both_ways_or_refused_with_its_place(text: str, tmp_path: Path) -> None:
    file = tmp_path / "data.arff"
    file.write_bytes(text.encode())
    quick = attempt(file)
    with mock.patch.object(reader, "read_plain", return_value=None):
        slow = attempt(file)
    if isinstance(quick, ArffError) or isinstance(slow, ArffError):
        assert repr(quick) == repr(slow)
    else:
        pd.testing.assert_frame_equal(quick.features, slow.features)
        assert quick.labels == slow.labels
        assert not quick.features.isin([math.inf, -math.inf]).any().any()


@own_folder
@given(content=st.binary(max_size=200), head=st.booleans())
def test_any_bytes_are_read_or_refused_with_their_place(content: bytes, head: bool, tmp_path: Path) -> None:
    file = tmp_path / "data.arff"
    file.write_bytes(HEAD.encode() * head + content)
    attempt(file)


names = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=8)


@st.composite
def tables(draw: st.DrawFn) -> Arff:
    rows = draw(st.integers(1, 4))
    columns: dict[str, object] = {}
    for name in draw(st.lists(names, max_size=4, unique=True)):
        if draw(st.booleans()):
            numbers = st.floats(allow_infinity=False, allow_nan=True)
            columns[name] = pd.Series(draw(st.lists(numbers, min_size=rows, max_size=rows)), dtype=float)
        else:
            values = draw(st.lists(names, min_size=1, max_size=3, unique=True))
            given_values = st.lists(st.sampled_from([*values, None]), min_size=rows, max_size=rows)
            columns[name] = pd.Categorical(draw(given_values), categories=values)
    hierarchy = draw(hierarchies(max_classes=6).filter(lambda found: len(found.roots) == 1 and len(found) > 1))
    edges = [(hierarchy.classes[parent], hierarchy.classes[child]) for parent, child in hierarchy.edges.tolist()]
    rooted = type(hierarchy).from_edges([("root", hierarchy.roots[0]), *edges])
    labels = draw(st.lists(st.frozensets(st.sampled_from(rooted.classes)), min_size=rows, max_size=rows))
    class_name = draw(names.filter(lambda name: name not in columns))
    frame = pd.DataFrame(columns, index=range(rows))
    return Arff(draw(names), frame, tuple(labels), rooted, is_tree=False, class_name=class_name)


@own_folder
@given(table=tables())
def test_what_is_written_is_read_back_the_same(table: Arff, tmp_path: Path) -> None:
    write(tmp_path / "data.arff", table)
    again = read(tmp_path / "data.arff")
    pd.testing.assert_frame_equal(again.features, table.features, check_column_type=False)
    assert again.labels == table.labels
    assert again.hierarchy == table.hierarchy
    assert (again.relation, again.class_name, again.is_tree) == (table.relation, table.class_name, table.is_tree)


@pytest.mark.parametrize("text", VALID)
def test_a_tree_is_written_and_read_back_the_same(text: str, tmp_path: Path) -> None:
    (tmp_path / "first.arff").write_text(text, encoding="utf-8")
    first = read(tmp_path / "first.arff")
    write(tmp_path / "second.arff", first)
    second = read(tmp_path / "second.arff")
    pd.testing.assert_frame_equal(first.features, second.features)
    assert (first.labels, first.hierarchy, first.is_tree) == (second.labels, second.hierarchy, second.is_tree)

"""The quick way to read a table gives the same as the slow one, for values and for errors."""

import csv
import gzip
import io
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from chmcnn import Hierarchy, TableError
from chmcnn.datasets import read_table

TREE = Hierarchy.from_paths(["a/b", "c"])
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
CELLS = {
    "numbers": st.floats(allow_nan=False).map(str) | st.integers().map(str) | st.from_regex(r"[ ]?\d*\.?\d+[ ]?"),
    "missing": st.sampled_from(["", "?", "NA", " NaN", "null ", "1", "-2e3"]),
    "words": st.sampled_from(["red", " red", "deep blue", "?", "", "7 of 9", "\N{NO-BREAK SPACE}red"]),
    "codes": st.sampled_from(["007", "12", "0", "0.5", " 01"]),
    "local": st.sampled_from(["1,5", "2,25", "1_000", "10 %", "3"]),
    "dates": st.sampled_from(["2026-01-31", "2026-12-01T10:30", "", "2026-13-01"]),
    "local dates": st.sampled_from(["1/2/26", "31.12.2026"]),
    "text": st.lists(st.sampled_from(["a", "red", "shoe,", 'size "9"', "line\nbreak", "NA"]), max_size=5).map(" ".join),
    "any": ANY_TEXT | st.sampled_from(["inf", "nan", "NAN", "1e400", "0x10", "True", "+1", "1.", ".5", "1e-400"]),
}
LABELS = st.sampled_from(["a/b", "c;a", "", " c", "a / b", "c;;a", "nothing"])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]], dict[str, Any]]:
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4, unique=True))
    repeated = st.integers(1, 3).map(lambda times: 4**times // 4)  # many rows of few words are categories
    rows = draw(st.lists(st.tuples(*(CELLS[name] for name in names), LABELS), min_size=1, max_size=8))
    times = draw(repeated)
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        options["categorical"] = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    elif draw(st.booleans()):
        options["text"] = [draw(st.sampled_from(names))]
    if draw(st.booleans()) and len(names) > 1:
        options["id_column"] = names[0]
    return [*names, "labels"], [list(row) for row in rows] * times, options


def write(path: Path, header: list[str], rows: list[list[str]], *, quoting: int, end: str) -> None:
    text = io.StringIO()
    writer = csv.writer(text, quoting=quoting, lineterminator=end)  # type: ignore[arg-type]  # a constant of csv
    writer.writerows([header, *rows])
    content = text.getvalue().encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def read(path: Path, options: dict[str, Any]) -> tuple[Any, ...] | str:
    try:
        table = read_table(path, TREE, **options)
    except TableError as error:
        return str(error)
    return table.X, table.Y.toarray()


def read_slowly(path: Path, options: dict[str, Any]) -> tuple[Any, ...] | str:
    with (
        mock.patch("chmcnn.datasets.delimited.read_quickly", return_value=None),
        mock.patch("chmcnn.datasets.feature_columns._convert_quickly", return_value=None),
    ):
        return read(path, options)


def compare(path: Path, options: dict[str, Any]) -> None:
    quick, slow = read(path, options), read_slowly(path, options)
    if isinstance(quick, str) or isinstance(slow, str):
        assert quick == slow
        return
    pd.testing.assert_frame_equal(quick[0], slow[0], check_exact=True)
    np.testing.assert_array_equal(quick[1], slow[1])


@settings(max_examples=60)
@given(
    table=tables(),
    name=st.sampled_from(["my.csv", "my.csv.gz"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_both_ways_give_the_same(
    tmp_path: Path, table: tuple[list[str], list[list[str]], dict[str, Any]], name: str, quoting: int, end: str
) -> None:
    header, rows, options = table
    write(tmp_path / name, header, rows, quoting=quoting, end=end)
    compare(tmp_path / name, options)


@settings(max_examples=100)
@given(text=st.lists(st.sampled_from(["x", "1", ",", '"', '""', "\n", "\r", "\r\n", " ", "a", "\t", "c"])).map("".join))
def test_both_ways_agree_about_any_quotes_and_line_ends(tmp_path: Path, text: str) -> None:
    (tmp_path / "my.csv").write_bytes(b"x,labels\n" + text.encode())
    compare(tmp_path / "my.csv", {})

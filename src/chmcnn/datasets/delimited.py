"""CSV, TSV and other delimited text: read by Arrow, or row by row to say what is wrong and where."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pandas as pd

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.datasets.arrow_csv import read_quickly
from chmcnn.datasets.raw_table import RawTable
from chmcnn.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read(path: Path, delimiter: str) -> RawTable:
    """Read a table with a header: all cells as text, empty ones as missing."""
    delimiter = "\t" if delimiter in ("\\t", "tab") else delimiter
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise TableError(f"the delimiter is {delimiter!r}; expected one character, such as ',' or a tab", path)
    line, header = next(rows(path, delimiter), (1, []))
    if not header:
        raise TableError("the file is empty; expected a header and rows", path)
    names = [name.strip() for name in header]
    _check_header(names, path, line)
    frame = read_quickly(path, delimiter, header)
    if frame is None:
        frame = _read_slowly(path, delimiter, len(header))
    frame.columns = pd.Index(names)
    return RawTable(path, frame, lambda row: _line_of(path, delimiter, row), delimiter=delimiter)


def _read_slowly(path: Path, delimiter: str, columns: int) -> pd.DataFrame:
    """Check the number of cells of every row, then read all at once."""
    number = _count_rows(path, delimiter, columns)
    with text.open_bytes(path, TableError) as file:
        frame = pd.read_csv(
            file, sep=delimiter, dtype="str", na_values=[""], keep_default_na=False, encoding="utf-8-sig"
        )
    if len(frame) != number:
        raise TableError(f"it has {number:,} rows, but {len(frame):,} were read; quote cells with line breaks", path)
    return frame


def _line_of(path: Path, delimiter: str, row: int) -> int:
    """Return the line on which a row, counted from 0, starts."""
    return next(line for number, (line, _) in enumerate(rows(path, delimiter)) if number == row + 1)


def _count_rows(path: Path, delimiter: str, columns: int) -> int:
    """Return the number of rows; raise an error if there is none, or one is not as long as the header."""
    all_rows = rows(path, delimiter)
    line, _ = next(all_rows)
    count = 0
    for line, row in all_rows:
        if len(row) != columns:
            cells = _wording.count(len(row), "cell")
            raise TableError(f"the row has {cells}, but the header has {columns}", path, line)
        count += 1
    if not count:
        raise TableError("the file has a header, but no rows", path, line)
    return count


def _check_header(names: list[str], path: Path, line: int) -> None:
    seen: set[str] = set()
    for cell, name in enumerate(names, start=1):
        if not name:
            raise TableError(f"cell {cell} of the header is empty; every column needs a name", path, line)
        if name in seen:
            raise TableError(f"there are two columns {name!r}; rename one of them", path, line)
        seen.add(name)


def rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the line it starts on."""
    reader = csv.reader(text.lines(path, TableError), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"the row cannot be read: {error}", path, line) from None

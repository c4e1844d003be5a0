"""CSV and TSV: every row is checked for its number of cells, then all are read at once."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pandas as pd

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".tab": "\t"}


def read(path: Path, delimiter: str) -> pd.DataFrame:
    """Read a table with a header: all cells as text, those without any as missing."""
    rows = _check(path, delimiter)
    frame = pd.read_csv(path, sep=delimiter, dtype=object, na_values=[""], keep_default_na=False, encoding="utf-8-sig")
    if len(frame) != rows:
        raise TableError(f"{rows:,} rows were counted, however {len(frame):,} read; quote cells that break lines", path)
    frame.columns = pd.Index([str(name).strip() for name in frame.columns])
    return frame


def line_of(path: Path, delimiter: str, row: int) -> int:
    """The line that a row, counted from 0, starts on."""
    return next(line for at, (line, _) in enumerate(_rows(path, delimiter)) if at == row + 1)


def _check(path: Path, delimiter: str) -> int:
    """Count the rows; refuse a file without any, and rows that are not as long as the header."""
    rows = _rows(path, delimiter)
    line, header = next(rows, (1, []))
    if not header:
        raise TableError("the file is empty; expected a header and rows", path)
    _check_header([name.strip() for name in header], path, line)
    count = 0
    for line, row in rows:
        if len(row) != len(header):
            cells = _wording.count(len(row), "cell")
            raise TableError(f"the row has {cells}, however the header has {len(header)}", path, line)
        count += 1
    if not count:
        raise TableError("there is no row below the header", path, line)
    return count


def _check_header(names: list[str], path: Path, line: int) -> None:
    seen: set[str] = set()
    for cell, name in enumerate(names, start=1):
        if not name:
            raise TableError(f"cell {cell} of the header is empty; every column needs a name", path, line)
        if name in seen:
            raise TableError(f"the column {name!r} is there twice; rename one of them", path, line)
        seen.add(name)


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the line it starts on."""
    reader = csv.reader(text.lines(path, TableError), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"the row cannot be read: {error}", path, line) from None

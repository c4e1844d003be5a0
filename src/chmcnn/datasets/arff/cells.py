"""Cells of a line: quotes, escapes and comments, and the column of each cell.

All patterns are possessive: no line needs backtracking.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from chmcnn.errors import ArffError

if TYPE_CHECKING:
    from collections.abc import Iterator

MISSING = "?"
_QUOTED = r"""'(?P<single>(?:[^'\\]|\\.)*+)'|"(?P<double>(?:[^"\\]|\\.)*+)\""""
_CELL = re.compile(rf"[ \t]*+(?:{_QUOTED}|(?P<bare>[^,'\"]*+))[ \t]*+(?P<end>,|$)")
_CELL_OF_ROW = re.compile(rf"[ \t]*+(?:{_QUOTED}|(?P<bare>[^,'\"%]*+))[ \t]*+(?P<end>,|%|$)")
_SPARSE_CELL = re.compile(rf"[ \t]*+(?P<index>[0-9]++)[ \t]++(?:{_QUOTED}|(?P<bare>[^,'\"%}}]*+))[ \t]*+(?P<end>,|}})")
_SPARSE_END = re.compile(r"[ \t]*+(?:%.*)?")
_PLAIN = re.compile(r"[^\s,'\"{}%\\?@]+")


class Cell(NamedTuple):
    """The text of a cell, and its column, counted from 1. A bare ``?`` is a missing value, a quoted one is not."""

    text: str
    column: int
    quoted: bool = False

    @property
    def missing(self) -> bool:
        """Whether the value is missing."""
        return self.text == MISSING and not self.quoted


def split_row(line: str) -> Iterator[Cell]:
    """Yield the cells of a data row, up to its end or a comment."""
    return split(line, pattern=_CELL_OF_ROW)


def split(line: str, start: int = 0, pattern: re.Pattern[str] = _CELL) -> Iterator[Cell]:
    """Yield the cells between commas."""
    while True:
        match = pattern.match(line, start)
        if not match:
            raise ArffError("a quote is not closed, or there is text beside it", column=start + 1)
        yield _cell(match)
        if match["end"] != ",":
            return
        start = match.end()


def split_sparse(line: str) -> Iterator[tuple[int, Cell]]:
    """Yield the positions and cells of a row ``{3 0.5, 7 yes}``."""
    start = line.index("{") + 1
    if line[start:].lstrip().startswith("}"):
        start = line.index("}") + 1
    else:
        while True:
            match = _SPARSE_CELL.match(line, start)
            if not match:
                raise ArffError("the sparse row is malformed; expected {position value, ...}", column=start + 1)
            yield int(match["index"]), _cell(match)
            start = match.end()
            if match["end"] == "}":
                break
    if not _SPARSE_END.fullmatch(line, start):
        raise ArffError("there is text after the sparse row", column=start + 1)


def quote(text: str) -> str:
    """Return a name or value with quotes if `split` needs them."""
    if _PLAIN.fullmatch(text):
        return text
    if "\n" in text or "\r" in text:
        raise ArffError(f"{text!r} has a line break, which ARFF does not support")
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _cell(match: re.Match[str]) -> Cell:
    for name in ("single", "double"):
        if match[name] is not None:
            return Cell(re.sub(r"\\(.)", r"\1", match[name]), match.start(name), quoted=True)
    text = match["bare"]
    start = match.start("bare")
    return Cell(text.strip(), start + len(text) - len(text.lstrip()) + 1)

"""Cells of a line: with quotes, escapes and comments, each with the column it starts at.

All patterns are possessive: a line is read once from left to right, whatever is in it.
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
    """The text of a cell, and the column it starts at, counted from 1. A quoted ``?`` is a value, a bare one is not."""

    text: str
    column: int
    quoted: bool = False

    @property
    def missing(self) -> bool:
        """Whether there is no value."""
        return self.text == MISSING and not self.quoted


def split_row(line: str) -> Iterator[Cell]:
    """Cells of a data row, up to its end or a comment."""
    return split(line, pattern=_CELL_OF_ROW)


def split(line: str, at: int = 0, pattern: re.Pattern[str] = _CELL) -> Iterator[Cell]:
    """Cells between commas."""
    while True:
        found = pattern.match(line, at)
        if not found:
            raise ArffError("a quote is not closed, or something stands beside it", column=at + 1)
        yield _cell(found)
        if found["end"] != ",":
            return
        at = found.end()


def split_sparse(line: str) -> Iterator[tuple[int, Cell]]:
    """Positions and cells of a row ``{3 0.5, 7 yes}``."""
    at = line.index("{") + 1
    if line[at:].lstrip().startswith("}"):
        at = line.index("}") + 1
    else:
        while True:
            found = _SPARSE_CELL.match(line, at)
            if not found:
                raise ArffError("a sparse row is broken; expected {position value, position value}", column=at + 1)
            yield int(found["index"]), _cell(found)
            at = found.end()
            if found["end"] == "}":
                break
    if not _SPARSE_END.fullmatch(line, at):
        raise ArffError("something stands behind the sparse row", column=at + 1)


def quote(text: str) -> str:
    """Write a name or value so that `split` reads the same; plain where that is possible."""
    if _PLAIN.fullmatch(text):
        return text
    if "\n" in text or "\r" in text:
        raise ArffError(f"{text!r} has a line break, which the format cannot hold")
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _cell(found: re.Match[str]) -> Cell:
    for name in ("single", "double"):
        if found[name] is not None:
            return Cell(re.sub(r"\\(.)", r"\1", found[name]), found.start(name), quoted=True)
    text = found["bare"]
    start = found.start("bare")
    return Cell(text.strip(), start + len(text) - len(text.lstrip()) + 1)

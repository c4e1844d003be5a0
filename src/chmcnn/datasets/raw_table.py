"""`RawTable`: the columns of a table file before they become features and labels, and the line of each row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from chmcnn import _wording
from chmcnn.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import pandas as pd
    from scipy import sparse

    from chmcnn.hierarchy import Hierarchy


_USUAL = {",", ";", "|", "\t"}
"""Usual delimiters of text files."""


class DeclaredLabels(NamedTuple):
    """Labels of a format that declares its classes itself."""

    label_sets: Sequence[Collection[str]]
    hierarchy: Hierarchy


@dataclass(frozen=True, slots=True)
class RawTable:
    """Columns of text, numbers, categories or lists of text; a missing value is None or NaN.

    ``frame`` has the column of labels too, except in a format with ``declared`` labels. Sparse features are in
    ``matrix``, and not in ``frame``.
    """

    path: Path
    frame: pd.DataFrame
    line_of: Callable[[int], int | None] = field(default=lambda _: None)
    declared: DeclaredLabels | None = None
    matrix: sparse.csr_array | None = None
    first_row: int = 0  # of a part of a file
    place_of: Callable[[int], tuple[Path, int]] | None = None  # the file of a row, and its number there, in a folder
    delimiter: str | None = None  # of a text file

    def error(self, problem: str, row: int | None = None, column: str | None = None) -> TableError:
        """Return an error about a cell; it names the row where the format has no lines."""
        line = None if row is None else self.line_of(row)
        path, number = (self.path, row) if row is None or self.place_of is None else self.place_of(row)
        place = f"row {self.first_row + number + 1}, " if number is not None and line is None else ""
        where = f"column {column!r}: " if column is not None else ""
        names = list(self.frame.columns)
        return TableError(f"{place}{where}{problem}", path, line, names.index(column) + 1 if column in names else None)

    def require_column(self, column: str, hint: str) -> None:
        """Raise an error for a column that does not exist."""
        if column not in self.frame.columns:
            names = list(self.frame.columns)
            near = _wording.nearest(column, names)
            suggestion = f"did you mean {near!r}? " if near else ""
            some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            columns = f"The columns are {some}" if len(names) > 1 else f"The only column is {some}"
            raise self.error(f"there is no column {column!r}; {suggestion}{hint}. {columns}{self._doubt_delimiter()}")

    def _doubt_delimiter(self) -> str:
        """Return what to do if the names of columns look as if the file had another delimiter."""
        names, others = list(self.frame.columns), _USUAL - {self.delimiter}
        if self.delimiter is None or (
            len(names) > 1 and not any(all(mark in name for name in names) for mark in others)
        ):
            return ""
        return f', read as separated by {self.delimiter!r}; write it so, or name another delimiter with delimiter="..."'

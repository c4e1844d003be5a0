"""Edges from the user: checking and reading them."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.errors import FileError, HierarchyError
from chmcnn.hierarchy import _titles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray


def as_edge(edge: tuple[str, str], number: int) -> tuple[str, str]:
    """Check one edge, a pair of names."""
    try:
        parent, child = edge
    except (TypeError, ValueError):
        parent = child = None  # type: ignore[assignment]
    if isinstance(edge, str) or not isinstance(parent, str) or not isinstance(child, str):
        hint = " Pass the rows of a DataFrame: frame.itertuples(index=False)." if isinstance(edge, str) else ""
        raise HierarchyError(
            f"Edge {number} is {edge!r}; expected a pair (parent, child) of class names, both strings.{hint}"
        )
    if not parent.strip() or not child.strip():
        raise HierarchyError(f"Edge {number} is {edge!r}; a class name must not be empty.")
    return str(parent), str(child)


def as_positions(edges: ArrayLike, names: tuple[str, ...]) -> NDArray[np.int64]:
    """Check edges between positions, and sort them."""
    try:
        pairs = np.asarray(edges)
    except ValueError:
        raise HierarchyError("Edges have different lengths; expected pairs of positions, parent and child.") from None
    if pairs.shape in {(0,), (0, 2)}:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise HierarchyError(
            f"Edges have shape {pairs.shape} and type {pairs.dtype}; expected rows of two positions, parent and child. "
            "Hierarchy.from_edges takes edges between names."
        )
    if pairs.min() < 0 or pairs.max() >= len(names):
        wrong = pairs[((pairs < 0) | (pairs >= len(names))).any(axis=1)][0].tolist()
        raise HierarchyError(
            f"Edge {wrong} has a position outside the {_wording.count(len(names), 'class')}, 0 to {len(names) - 1}."
        )
    loops = pairs[pairs[:, 0] == pairs[:, 1]]
    if len(loops):
        raise HierarchyError(f"Class {names[loops[0, 0]]!r} is its own parent; remove that edge.")
    pairs = pairs.astype(np.int64)
    return np.stack(np.divmod(np.unique(pairs[:, 0] * len(names) + pairs[:, 1]), len(names)), axis=1)


def cycle_message(cycle: list[str]) -> str:
    """Return the message about a cycle, which shortens a long one."""
    shown = [*cycle, cycle[0]]
    if len(shown) > 12:
        shown = [*shown[:8], f"({len(cycle) - 9} more)", *shown[-2:]]
    return f"The edges form a cycle, from parent to child: {' -> '.join(shown)}. Remove one of them."


class EdgeFile(NamedTuple):
    """What a file of edges has: (parent, child), with an empty parent for a class that has none, and titles."""

    rows: list[tuple[str, str]]
    titles: dict[str, str]


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """The names of the columns; by default titles come from ``title`` or ``name``, if there is such a column."""

    parent: str
    child: str
    title: str | None


def read_file(path: Path, columns: EdgeColumns, delimiter: str) -> EdgeFile:
    """Read edges and titles from a CSV file."""
    try:
        content = "".join(text.lines(path))
    except FileError as error:
        raise HierarchyError(str(error)) from None
    try:
        chosen = _find_delimiter(content.partition("\n")[0], delimiter)
        rows = csv.reader(io.StringIO(content, newline=""), delimiter=chosen, strict=True)
    except TypeError:
        raise HierarchyError(
            f"{path}: delimiter is {delimiter!r}; expected one character, such as ',' or '\\t'."
        ) from None
    file = EdgeFile([], {})
    try:
        for parent, child, title in _read_rows(rows, columns):
            file.rows.append((parent, child))
            _titles.collect(file.titles, child, title)
    except (HierarchyError, csv.Error) as error:
        raise HierarchyError(f"{path}, line {max(rows.line_num, 1)}: {error}") from None
    return file


def _find_delimiter(header: str, given: str) -> str:
    """Return the delimiter of a header, which has two columns at least: another usual one, if it has no comma.

    >>> _find_delimiter("parent;child", ",")
    ';'
    """
    return next((each for each in ";\t|" if each in header), given) if given == "," and "," not in header else given


def _read_rows(rows: Iterator[list[str]], columns: EdgeColumns) -> Iterator[tuple[str, str, str]]:
    """Yield parent, child and the title of the child, which may be empty."""
    header = [cell.strip() for cell in next(rows, [])]
    if not header:
        raise HierarchyError(
            f"There is no header; expected one with the columns {columns.parent!r} and {columns.child!r}."
        )
    for column in (columns.parent, columns.child):
        if header.count(column) != 1:
            raise HierarchyError(
                f"Expected one column {column!r}, but the columns are {header}. "
                "Name yours with parent= and child=, and the delimiter with delimiter=."
            )
    above, below = header.index(columns.parent), header.index(columns.child)
    titled = _titles.find_columns(header, columns.title, (columns.parent, columns.child))
    for row in rows:
        if row and len(row) != len(header):
            raise HierarchyError(f"The row has {_wording.count(len(row), 'cell')}, but the header has {len(header)}.")
        if row and not row[below].strip():
            raise HierarchyError(f"Column {columns.child!r} is empty; expected a class name.")
        if row:
            yield row[above].strip(), row[below].strip(), "".join(row[column].strip() for column in titled)

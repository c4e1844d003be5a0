"""The user's own tables: features and labels from CSV, TSV, Parquet or hierarchical ARFF."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from chmcnn import _names
from chmcnn.datasets import arff, delimited, text
from chmcnn.datasets.dataset import Table
from chmcnn.errors import ChmcnnError, HierarchyError, TableError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

_PARQUET = {".parquet", ".pq"}


@dataclass(frozen=True, slots=True)
class _Source:
    """A file's cells, and the way from a row to its line."""

    path: Path
    frame: pd.DataFrame
    line_of: Callable[[int], int | None] = field(default=lambda _: None)

    def error(self, problem: str, row: int | None = None, column: str | None = None) -> TableError:
        """An error about a cell: Parquet has no lines, so there the row is named."""
        line = None if row is None else self.line_of(row)
        place = f"row {row + 1}, " if row is not None and line is None else ""
        where = f"column {column!r}: " if column is not None else ""
        names = [str(name) for name in self.frame.columns]
        number = names.index(column) + 1 if column in names else None
        return TableError(f"{place}{where}{problem}", self.path, line, number)


def read_features(
    path: str | Path,
    *,
    id_column: str | int | None = None,
    categorical: Sequence[str] = (),
    delimiter: str | None = None,
) -> pd.DataFrame:
    """Read a table that has features only: numbers as floats, all other columns as categories.

    Parameters are those of `read_table`; ``id_column`` may also be a position.
    """
    source = _open(Path(path), delimiter)
    ids = str(source.frame.columns[id_column]) if isinstance(id_column, int) else id_column
    return _features(source, source.frame, ids, categorical)


def read_table(  # noqa: PLR0913 -- all but two by name, each with a default
    path: str | Path,
    hierarchy: Hierarchy | None = None,
    *,
    labels: str | Sequence[str] = "labels",
    separator: str = ";",
    path_separator: str = "/",
    id_column: str | None = None,
    categorical: Sequence[str] = (),
    delimiter: str | None = None,
    sparse: bool = False,
) -> Table:
    """Read features and labels from a CSV, TSV, Parquet or hierarchical ARFF file.

    A column is numeric if all of its cells are numbers, and categorical if none is; a mixture is refused, because it is
    nearly always a mistake, unless ``categorical`` names the column. No value is written as an empty cell, ``?``,
    ``NA``, ``NaN`` or ``null``.

    Parameters
    ----------
    path
        The file, plain or with ``.gz``; its ending says what it is.
    hierarchy
        The classes. Without it the labels are paths such as ``sport/tennis``, and make the hierarchy themselves.
    labels
        The column that names each row's classes, joined by ``separator``; or the columns that are the classes, with 0
        and 1 in them. A row need not name the ancestors of its classes.
    separator
        What stands between two labels of a row.
    path_separator
        What stands between the parts of a label that is a path.
    id_column
        A column that names the rows, and is no feature.
    categorical
        Columns to read as categories even where their cells look like numbers.
    delimiter
        What stands between two cells of a text file; by default a comma in ``.csv``, otherwise a tab.
    sparse
        Whether the label matrix is sparse: for many rows of many classes.
    """
    file = Path(path)
    if text.ending(file) == ".arff":
        return _from_arff(file, hierarchy)
    source = _open(file, delimiter)
    try:
        if isinstance(labels, str):
            label_sets = _label_sets(source, labels, separator)
            features = source.frame.drop(columns=labels)
        else:
            label_sets = _class_columns(source, list(labels))
            features = source.frame.drop(columns=list(labels))
        known = hierarchy or _paths(label_sets if isinstance(labels, str) else [labels], path_separator)
    except HierarchyError as error:
        raise source.error(f"{str(error).rstrip('.')}; without a hierarchy, labels are paths") from None
    _refuse_unknown(source, label_sets, known, labels)
    matrix = known.encode_sparse(label_sets) if sparse else known.encode(label_sets)
    return Table(_features(source, features, id_column, categorical), matrix, known, source=str(file))


def _open(path: Path, delimiter: str | None) -> _Source:
    kind = text.ending(path)
    if not path.is_file():
        raise TableError("the file is not there", path)
    if kind in _PARQUET:
        return _open_parquet(path)
    if kind not in delimited.DELIMITERS and delimiter is None:
        known = ", ".join([*delimited.DELIMITERS, *sorted(_PARQUET), ".arff"])
        raise TableError(f"the ending {kind!r} is not known; expected one of {known}, or a delimiter", path)
    between = delimiter or delimited.DELIMITERS[kind]
    if len(between) != 1:
        raise TableError(f"the delimiter is {between!r}; expected one character, such as ',' or a tab", path)
    frame = delimited.read(path, between)
    return _Source(path, frame, lambda row: delimited.line_of(path, between, row))


def _open_parquet(path: Path) -> _Source:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise TableError('Parquet needs pyarrow: pip install "chmcnn[parquet]"', path) from None
    try:
        table = parquet.read_table(path)
    except pa.ArrowException as error:
        raise TableError(f"the file is not Parquet: {str(error).splitlines()[0].rstrip('.')}", path) from None
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise TableError(f"the column {name!r} is there twice; rename one of them", path)
    if not table.num_rows:
        raise TableError("the file has no rows", path)
    return _Source(path, table.to_pandas())


def _from_arff(path: Path, hierarchy: Hierarchy | None) -> Table:
    content = arff.read(path)
    known = hierarchy or content.hierarchy
    try:
        return Table(content.features, content.labels, known, source=str(path))
    except ChmcnnError as error:
        raise TableError(str(error).rstrip("."), path) from None


def _label_sets(source: _Source, column: str, separator: str) -> list[frozenset[str]]:
    _refuse_missing_column(source, column, 'name yours with labels="..."')
    if not separator:
        raise source.error("the separator of labels is empty", column=column)
    return [frozenset(_names_in(cell, separator, source, row, column)) for row, cell in enumerate(source.frame[column])]


def _names_in(cell: Any, separator: str, source: _Source, row: int, column: str) -> Collection[str]:  # noqa: ANN401
    """Names in a cell: text with separators, a list, or nothing."""
    if isinstance(cell, str):
        names = [part.strip() for part in cell.split(separator)]
    elif isinstance(cell, np.ndarray | list):
        names = list(cell)
    elif pd.isna(cell):
        return ()
    else:
        names = [str(cell)]
    if not all(isinstance(name, str) and name for name in names):
        raise source.error(f"{cell!r} has an empty label, or one that is no text", row, column)
    return names


def _class_columns(source: _Source, columns: list[str]) -> list[frozenset[str]]:
    for column in columns:
        _refuse_missing_column(source, column, "a column for each class was asked for")
    cells = source.frame[columns]
    numbers = cells.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.argwhere(~np.isin(numbers, (0, 1)))
    if len(wrong):
        row, at = wrong[0].tolist()
        value = cells.iloc[row, at]
        shown = "nothing" if pd.isna(value) else repr(value)
        raise source.error(f"expected 0 or 1, however the cell has {shown}", row, columns[at])
    return [frozenset(itertools.compress(columns, row)) for row in numbers.astype(bool).tolist()]


def _paths(label_sets: Sequence[Collection[str]], separator: str) -> Hierarchy:
    return Hierarchy.from_paths(sorted(set().union(*label_sets)), separator)


def _refuse_missing_column(source: _Source, column: str, hint: str) -> None:
    names = [str(name) for name in source.frame.columns]
    if column not in names:
        near = _names.nearest(column, names)
        mean = f"did you mean {near!r}? " if near else ""
        some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise source.error(f"there is no column {column!r}; {mean}{hint}. The columns are {some}")


def _refuse_unknown(
    source: _Source, label_sets: Sequence[Collection[str]], hierarchy: Hierarchy, labels: str | Sequence[str]
) -> None:
    for row, names in enumerate(label_sets):
        for name in sorted(names):
            if name not in hierarchy:
                problem = _names.unknown(name, hierarchy.classes)
                raise source.error(
                    f"{problem} It is not in the hierarchy", row, labels if isinstance(labels, str) else name
                )


def _features(source: _Source, frame: pd.DataFrame, id_column: str | None, categorical: Sequence[str]) -> pd.DataFrame:
    for column in [*categorical, *([id_column] if id_column else [])]:
        _refuse_missing_column(source, column, "it was named")
    if id_column:
        ids = frame[id_column]
        if ids.isna().any() or ids.duplicated().any():
            row = int(np.flatnonzero(ids.isna() | ids.duplicated())[0])
            raise source.error(f"{ids.iloc[row]!r} is missing or there twice; ids name one row each", row, id_column)
        frame = frame.set_index(id_column)
    if not frame.shape[1]:
        raise source.error("there is no column of features")
    return pd.DataFrame(dict(_columns(source, frame, set(categorical))), index=frame.index)


def _columns(source: _Source, frame: pd.DataFrame, categorical: Collection[str]) -> Iterator[tuple[str, pd.Series]]:
    for name, cells in frame.items():
        column = str(name)
        numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
        given = cells.notna()
        is_number = np.isfinite(numbers) & given
        if column in categorical or (given.any() and not is_number.any()):
            yield column, cells.astype(str).where(given, None).astype("category")
        elif (given & ~is_number).any():
            row = int(np.flatnonzero(given & ~is_number)[0])
            raise source.error(
                f"{cells.iloc[row]!r} is not a finite number, as others in the column are; if it is a category, name "
                f"the column in categorical",
                row,
                column,
            )
        else:
            yield column, numbers

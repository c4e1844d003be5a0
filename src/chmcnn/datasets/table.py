"""`read_table`: features and labels from CSV, TSV, Parquet or hierarchical ARFF."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.datasets import arff
from chmcnn.datasets.dataset import Table
from chmcnn.datasets.features import features as as_features
from chmcnn.datasets.hierarchies import read_hierarchy
from chmcnn.datasets.source import Source, open_table
from chmcnn.errors import ChmcnnError, TableError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

LABELS = "labels"
"""The column of labels, where none is named."""


def read_features(
    path: str | Path,
    *,
    id_column: str | int | None = None,
    categorical: Sequence[str] = (),
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Read a table that has features only: numbers as floats, all other columns as categories.

    Parameters are those of `read_table`; with ``columns``, only those are read, in that order.
    """
    source = open_table(Path(path).expanduser(), delimiter)
    kept = source.frame
    if columns is not None:
        for column in columns:
            source.refuse_missing(column, "it is one of those that are wanted")
        ids = [] if id_column is None else [id_column if isinstance(id_column, str) else str(kept.columns[id_column])]
        kept = kept[[*columns, *(column for column in ids if column in kept and column not in columns)]]
    return as_features(source, kept, id_column, categorical)


def read_table(  # noqa: PLR0913 -- all but two by name, each with a default
    path: str | Path,
    hierarchy: Hierarchy | str | Path | None = None,
    *,
    labels: str | Sequence[str] = LABELS,
    separator: str = ";",
    path_separator: str = "/",
    id_column: str | int | None = None,
    categorical: Sequence[str] = (),
    delimiter: str | None = None,
    sparse: bool = False,
) -> Table:
    """Read features and labels from a CSV, TSV, Parquet or hierarchical ARFF file.

    A column is numeric if all of its cells are numbers, and categorical if none is. What cannot be told is refused,
    because it is nearly always a mistake, unless ``categorical`` names the column: a mixture, numbers in a foreign
    form such as ``1,5``, codes such as ``007``, and texts that are nearly all different. No value is an empty cell,
    ``?``, ``NA``, ``N/A``, ``NaN``, ``nan``, ``null`` or ``None``; among labels and ids, only an empty cell.

    Parameters
    ----------
    path
        The file, plain or with ``.gz``; its ending says what it is.
    hierarchy
        The classes, or a file that `chmcnn.datasets.read_hierarchy` reads. Without it the labels are paths such as
        ``sport/tennis``, and make the hierarchy themselves.
    labels
        The column that names each row's classes, joined by ``separator``; or the columns that are the classes, with 0
        and 1 in them. A row need not name the ancestors of its classes.
    separator
        What stands between two labels of a row.
    path_separator
        What stands between the parts of a label that is a path.
    id_column
        A column that names the rows, and is no feature: its name or position.
    categorical
        Columns to read as categories even where their cells look like numbers.
    delimiter
        What stands between two cells of a text file; by default a comma in ``.csv``, otherwise a tab.
    sparse
        Whether the label matrix is sparse: for many rows of many classes.
    """
    file = Path(path).expanduser()
    known = read_hierarchy(hierarchy) if isinstance(hierarchy, str | Path) else hierarchy
    if text.ending(file) == ".arff":
        if labels != LABELS or id_column is not None or categorical or delimiter:
            raise TableError("ARFF says itself which columns are which; labels, id_column, ... do not apply", file)
        return _from_arff(file, known, sparse=sparse)
    source = open_table(file, delimiter)
    label_sets: Sequence[Collection[str]]
    if isinstance(labels, str):
        label_sets = _label_sets(source, labels, separator)
        known = known or _from_paths(source, label_sets, labels, path_separator)
        label_sets = label_sets if hierarchy else [{_path(name, path_separator) for name in row} for row in label_sets]
        _refuse_unknown(source, label_sets, known, labels)
        rest = source.frame.drop(columns=labels)
    else:
        known = known or Hierarchy.from_paths(labels, path_separator)
        label_sets = _class_columns(source, list(labels), known)
        rest = source.frame.drop(columns=list(labels))
    matrix = known.encode_sparse(label_sets) if sparse else known.encode(label_sets)
    return Table(as_features(source, rest, id_column, categorical), matrix, known, source=str(file))


def _from_arff(path: Path, hierarchy: Hierarchy | None, *, sparse: bool) -> Table:
    content = arff.read(path)
    known = hierarchy or content.hierarchy
    try:
        matrix = known.encode_sparse(content.labels) if sparse else known.encode(content.labels)
    except ChmcnnError as error:
        raise TableError(f"{error} Read it without a hierarchy: it has its own", path) from None
    return Table(content.features, matrix, known, source=str(path))


def _label_sets(source: Source, column: str, separator: str) -> list[Collection[str]]:
    source.refuse_missing(column, 'name yours with labels="...", and what stands between cells with delimiter="..."')
    if not separator:
        raise source.error("the separator of labels is empty", column=column)
    return [_names_in(cell, separator, source, row, column) for row, cell in enumerate(source.frame[column])]


def _names_in(cell: Any, separator: str, source: Source, row: int, column: str) -> Collection[str]:  # noqa: ANN401
    """Names in a cell: text with separators, a list, a whole number, or nothing."""
    if isinstance(cell, list):
        names = cell
    elif isinstance(cell, str):
        names = [part.strip() for part in cell.split(separator)] if cell.strip() else []
    elif pd.isna(cell):
        return ()
    else:
        names = [str(int(cell)) if float(cell).is_integer() else str(cell)]
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise source.error(f"{cell!r} has an empty label, or one that is no text", row, column)
    return frozenset(names)


def _from_paths(source: Source, label_sets: Sequence[Collection[str]], column: str, separator: str) -> Hierarchy:
    """The hierarchy of labels that are paths. Without any path among them, one was forgotten."""
    paths = set()
    for row, names in enumerate(label_sets):
        for name in names:
            if not separator or not all(part.strip() for part in name.split(separator)):
                raise source.error(
                    f"{name!r} is no path of parts joined by {separator!r}, none of them empty", row, column
                )
            paths.add(_path(name, separator))
    if not any(separator in path for path in paths):
        raise source.error(
            f"no label is a path with {separator!r} in it, and no hierarchy is given: give one, or "
            "Hierarchy(names, []) for classes without any order",
            column=column,
        )
    return Hierarchy.from_paths(sorted(paths), separator)


def _path(name: str, separator: str) -> str:
    return separator.join(part.strip() for part in name.split(separator))


def _class_columns(source: Source, columns: list[str], hierarchy: Hierarchy) -> list[frozenset[str]]:
    if not columns or len(set(columns)) < len(columns):
        raise source.error(f"labels are the columns {columns}; expected at least one, and each once")
    for column in columns:
        source.refuse_missing(column, "a column for each class was asked for")
        if column not in hierarchy:
            raise source.error(
                f"{_wording.unknown(column, hierarchy.classes)} It is not in the hierarchy", column=column
            )
    for column in source.frame.columns:
        if column in hierarchy and column not in columns:
            raise source.error(
                "it has the name of a class, but labels do not name it; add it there, or drop it", column=column
            )
    cells = source.frame[columns].replace({"True": "1", "true": "1", "False": "0", "false": "0"})
    numbers = cells.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.argwhere(~np.isin(numbers, (0, 1)))
    if len(wrong):
        row, at = wrong[0].tolist()
        value = source.frame[columns].iloc[row, at]
        shown = "nothing" if pd.isna(value) else repr(value)
        raise source.error(f"expected 0 or 1, however the cell has {shown}", row, columns[at])
    return [frozenset(itertools.compress(columns, row)) for row in numbers.astype(bool).tolist()]


def _refuse_unknown(source: Source, label_sets: Sequence[Collection[str]], hierarchy: Hierarchy, column: str) -> None:
    for row, names in enumerate(label_sets):
        for name in sorted(names):
            if name not in hierarchy:
                raise source.error(
                    f"{_wording.unknown(name, hierarchy.classes)} It is not in the hierarchy", row, column
                )

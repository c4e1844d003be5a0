"""Labels in the columns of a table: one column of names, or one column of 0 and 1 for each class."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from chmcnn import _wording
from chmcnn.errors import LabelError
from chmcnn.hierarchy import hierarchy_from_paths, trim_path

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from chmcnn.datasets.raw_table import RawTable
    from chmcnn.hierarchy import Hierarchy

    LabelSets = Sequence[Collection[str]]


def read_label_sets(
    raw: RawTable, column: str, separator: str, path_separator: str, hierarchy: Hierarchy | None
) -> tuple[LabelSets, Hierarchy]:
    """Return the label set of each row, and the hierarchy, which comes from the labels unless there is one."""
    raw.require_column(column, 'name your column of labels with labels="...", or the delimiter with delimiter="..."')
    if not separator:
        raise raw.error("the separator of labels is empty", column=column)
    label_sets: LabelSets = [
        _split_cell(cell, separator, raw, row, column) for row, cell in enumerate(raw.frame[column])
    ]
    if hierarchy is None:
        hierarchy = _hierarchy_from_paths(raw, label_sets, column, path_separator)
    if path_separator:
        label_sets = [
            {name if name in hierarchy else trim_path(name, path_separator) for name in names} for names in label_sets
        ]
    _refuse_unknown(raw, label_sets, hierarchy, column)
    return label_sets, hierarchy


def read_class_columns(raw: RawTable, columns: list[str], hierarchy: Hierarchy) -> LabelSets:
    """Return the label set of each row from one column of 0 and 1 for each class."""
    _check_class_columns(raw, columns, hierarchy)
    cells = raw.frame[columns].replace({"True": "1", "true": "1", "False": "0", "false": "0"})
    numbers = cells.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.argwhere(~np.isin(numbers, (0, 1)))
    if len(wrong):
        row, position = wrong[0].tolist()
        value = raw.frame[columns].iloc[row, position]
        shown = "is empty" if pd.isna(value) else f"has {value!r}"
        raise raw.error(f"expected 0 or 1, but the cell {shown}", row, columns[position])
    return [frozenset(itertools.compress(columns, row)) for row in numbers.astype(bool).tolist()]


def _split_cell(cell: object, separator: str, raw: RawTable, row: int, column: str) -> Collection[str]:
    """Return the names in a cell, which has text with separators, a list, an integer, or nothing."""
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return ()
    names: list[object] = [cell]
    if isinstance(cell, list):
        names = cell
    elif isinstance(cell, str):
        names = [part.strip() for part in cell.split(separator)] if cell.strip() else []
    elif isinstance(cell, float):
        names = [str(int(cell)) if cell.is_integer() else str(cell)]
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise raw.error(f"{cell!r} has a label that is empty or not text", row, column)
    return frozenset(str(name) for name in names)


def _hierarchy_from_paths(raw: RawTable, label_sets: LabelSets, column: str, separator: str) -> Hierarchy:
    """Return the hierarchy of labels that are paths; without any path, the user forgot the hierarchy."""
    for row, names in enumerate(label_sets):
        for name in names:
            if not separator or not all(part.strip() for part in name.split(separator)):
                raise raw.error(f"{name!r} is not a path of non-empty parts separated by {separator!r}", row, column)
    try:
        return hierarchy_from_paths(set().union(*label_sets), separator)
    except LabelError as error:
        raise raw.error(str(error), column=column) from None


def _check_class_columns(raw: RawTable, columns: list[str], hierarchy: Hierarchy) -> None:
    if not columns or len(set(columns)) < len(columns):
        raise raw.error(f"labels are the columns {columns}; expected at least one, without duplicates")
    for column in columns:
        raw.require_column(column, "labels= names it as the column of a class")
        if column not in hierarchy:
            raise raw.error(
                f"{_wording.describe_unknown(column, hierarchy.classes)} It is not in the hierarchy", column=column
            )
    for column in raw.frame.columns:
        if column in hierarchy and column not in columns:
            raise raw.error("the column has the name of a class, but is not in labels; add or drop it", column=column)


def _refuse_unknown(raw: RawTable, label_sets: LabelSets, hierarchy: Hierarchy, column: str) -> None:
    for row, names in enumerate(label_sets):
        for name in sorted(names):
            if name not in hierarchy:
                raise raw.error(
                    f"{_wording.describe_unknown(name, hierarchy.classes)} It is not in the hierarchy", row, column
                )

"""Labels in the columns of a table: one column of names, or one column of 0 and 1 for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from chmcnn import _wording
from chmcnn.datasets.quick_columns import convert_to_numbers, to_arrow
from chmcnn.errors import LabelError
from chmcnn.hierarchy import hierarchy_from_paths, trim_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.datasets.raw_table import RawTable
    from chmcnn.hierarchy import Hierarchy


class _NamedLabels(NamedTuple):
    """The labels of rows by their names, in the order in which they appear."""

    names: list[str]
    cells: sparse.csr_array  # (different cells, names)
    rows: NDArray[np.int64]  # the position of the cell of each row

    def find_row(self, name: int) -> int:
        """Return the first row with a name."""
        with_name = np.diff(self.cells[:, [name]].indptr) > 0
        return int(np.argmax(with_name[self.rows]))


def read_label_column(
    raw: RawTable, column: str, separator: str, path_separator: str, hierarchy: Hierarchy | None
) -> tuple[sparse.csr_array, Hierarchy]:
    """Return the labels of each row (rows, classes), and the hierarchy, which comes from them unless there is one."""
    raw.require_column(column, 'name your column of labels with labels="..."')
    if not separator:
        raise raw.error("the separator of labels is empty", column=column)
    labels = _read_names(raw, column, separator)
    if hierarchy is None:
        hierarchy = _hierarchy_from_paths(raw, labels, column, path_separator)
    if path_separator:
        trimmed = [name if name in hierarchy else trim_path(name, path_separator) for name in labels.names]
        labels = labels._replace(names=trimmed)
    _refuse_unknown(raw, labels, hierarchy, column)
    return _select_classes(labels, hierarchy), hierarchy


def read_class_columns(raw: RawTable, columns: list[str], hierarchy: Hierarchy) -> sparse.csr_array:
    """Return the labels of each row (rows, classes) from one column of 0 and 1 for each class."""
    _check_class_columns(raw, columns, hierarchy)
    numbers = np.column_stack([_read_zeros_and_ones(raw.frame[column]) for column in columns])
    wrong = np.argwhere(~np.isin(numbers, (0, 1)))
    if len(wrong):
        row, position = wrong[0].tolist()
        value = raw.frame[columns].iloc[row, position]
        shown = "is empty" if pd.isna(value) else f"has {value!r}"
        raise raw.error(f"expected 0 or 1, but the cell {shown}", row, columns[position])
    labels = _NamedLabels(columns, sparse.csr_array(numbers.astype(np.bool_)), np.arange(len(numbers)))
    return _select_classes(labels, hierarchy)


def _read_zeros_and_ones(column: pd.Series) -> NDArray[np.float64]:
    numbers = convert_to_numbers(column) if isinstance(column.dtype, pd.StringDtype) else None
    if numbers is not None:
        return numbers
    words = column.replace({"True": "1", "true": "1", "False": "0", "false": "0"})
    return pd.to_numeric(words, errors="coerce").to_numpy(dtype=np.float64)


def _select_classes(labels: _NamedLabels, hierarchy: Hierarchy) -> sparse.csr_array:
    """Return labels in the order of the classes, with all ancestors."""
    positions = [hierarchy.index(name) for name in labels.names]
    ones = np.ones(len(positions), dtype=np.int32)
    shape = (len(positions), len(hierarchy))
    selection = sparse.csr_array((ones, (np.arange(len(positions)), positions)), shape=shape)
    return hierarchy.close((labels.cells.astype(np.int32) @ selection).astype(np.bool_))[labels.rows]


def _read_names(raw: RawTable, column: str, separator: str) -> _NamedLabels:
    """Read the names in a column; those of equal cells only once."""
    if isinstance(raw.frame[column].dtype, pd.ArrowDtype):
        return _read_lists(raw, column)
    codes, cells = pd.factorize(raw.frame[column])
    position: dict[str, int] = {}
    columns: list[int] = []
    ends = [0]
    for code, cell in enumerate(cells):
        try:
            names = _split_cell(cell, separator)
        except ValueError as error:
            raise raw.error(str(error), int(np.argmax(codes == code)), column) from None
        columns.extend(position.setdefault(name, len(position)) for name in names)
        ends.append(len(columns))
    ends.append(ends[-1])  # a missing cell has the code -1, that of the last row: no names
    ones = np.ones(len(columns), dtype=np.bool_)
    matrix = sparse.csr_array((ones, columns, ends), shape=(len(ends) - 1, len(position)))
    return _NamedLabels(list(position), matrix, codes)


def _read_lists(raw: RawTable, column: str) -> _NamedLabels:
    """Read a column of lists of names."""
    lists = to_arrow(raw.frame[column])
    encoded = lists.flatten().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    counts = lists.value_lengths().fill_null(0).to_numpy()
    ends = np.concatenate([[0], np.cumsum(counts)])
    wrong = np.isin(encoded.indices.fill_null(-1), [-1, *(at for at, name in enumerate(names) if not name.strip())])
    if wrong.any():
        row = int(np.searchsorted(ends, np.argmax(wrong), side="right")) - 1
        raise raw.error(f"{lists[row].as_py()!r} has a label that is empty or not text", row, column)
    codes = encoded.indices.to_numpy()
    ones = np.ones(len(codes), dtype=np.int32)
    matrix = sparse.csr_array((ones, codes, ends), shape=(len(lists), len(names)))
    matrix.sum_duplicates()
    return _NamedLabels(names, matrix.astype(np.bool_), np.arange(len(lists)))


def _split_cell(cell: object, separator: str) -> list[str]:
    """Return the different names in a cell, which has text with separators, or an integer."""
    if isinstance(cell, float):
        return [str(int(cell)) if cell.is_integer() else str(cell)]
    if not isinstance(cell, str):
        raise ValueError(f"{cell!r} has a label that is empty or not text")  # noqa: TRY004 -- of a value in a file
    names = [part.strip() for part in cell.split(separator)]
    if not names[-1]:
        names.pop()  # of an empty cell, or after the last separator
    if not all(names):
        raise ValueError(f"{cell!r} has a label that is empty or not text")
    return list(dict.fromkeys(names))


def _hierarchy_from_paths(raw: RawTable, labels: _NamedLabels, column: str, separator: str) -> Hierarchy:
    """Return the hierarchy of labels that are paths; without any path, the user forgot the hierarchy."""
    for position, name in enumerate(labels.names):
        if not separator or not all(part.strip() for part in name.split(separator)):
            problem = f"{name!r} is not a path of non-empty parts separated by {separator!r}"
            raise raw.error(problem, labels.find_row(position), column)
    try:
        return hierarchy_from_paths(labels.names, separator)
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
    named = frozenset(columns)
    for column in raw.frame.columns:
        if column in hierarchy and column not in named:
            raise raw.error("the column has the name of a class, but is not in labels; add or drop it", column=column)


def _refuse_unknown(raw: RawTable, labels: _NamedLabels, hierarchy: Hierarchy, column: str) -> None:
    first = next((at for at, name in enumerate(labels.names) if name not in hierarchy), None)
    if first is not None:
        row = labels.find_row(first)
        names = [labels.names[at] for at in labels.cells[[labels.rows[row]]].indices]
        name = min(name for name in names if name not in hierarchy)
        is_list = isinstance(raw.frame[column].dtype, pd.ArrowDtype)
        raise raw.error(_describe_unknown(name, hierarchy, "" if is_list else _wording.SEPARATORS), row, column)


def _describe_unknown(name: str, hierarchy: Hierarchy, separators: str) -> str:
    """Return the message about an unknown label, which may be several ones with another separator between them."""
    for separator in separators:
        parts = _wording.split_known(name, separator, hierarchy)
        if parts:
            named = ", ".join(map(repr, parts[:3])) + (", ..." if len(parts) > 3 else "")
            return f"Unknown class {name!r}, but {named} are classes: to separate them, pass separator={separator!r}"
    return f"{_wording.describe_unknown(name, hierarchy.classes)} It is not in the hierarchy"

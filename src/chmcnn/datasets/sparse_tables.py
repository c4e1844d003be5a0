"""Sparse features: svmlight and libsvm files, matrices of scipy, and lists of entries in Parquet."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.datasets.raw_table import RawTable
from chmcnn.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


_ENTRIES = ("indices", "values")
"""The columns of a Parquet file with the places and the values of a row that are not zero."""
_LAST_PLACE = (1 << 27) - 1
"""The last column of sparse features: with more of them, their means and scales alone would take gigabytes."""


def read_svmlight(path: Path) -> RawTable:
    """Read a svmlight or libsvm file, such as ``3,17 5:0.2 9:1``.

    The labels of a row are names of classes. Feature 5 is column 5: a file that counts from 1 has an empty column 0.
    """
    content = "".join(text.lines(path, TableError)).encode()
    try:
        matrix, labels = _parse(content)
    except (ValueError, OverflowError) as error:
        raise _locate(content, path) or TableError(f"the file cannot be read: {error}", path) from None
    if not matrix.shape[0]:
        raise TableError("the file has no rows", path)
    names = [";".join(_name_class(label, row, path) for label in row_labels) for row, row_labels in enumerate(labels)]
    return RawTable(path, pd.DataFrame({"labels": pd.Series(names, dtype="str")}), matrix=check_matrix(matrix, path))


def read_npz(path: Path) -> RawTable:
    """Read the matrix of a file that `scipy.sparse.save_npz` wrote; it has no labels."""
    matrix = load_matrix(path)
    return RawTable(path, pd.DataFrame(index=pd.RangeIndex(matrix.shape[0])), matrix=matrix)


def load_matrix(path: Path) -> sparse.csr_array:
    """Read a sparse matrix of numbers; equal places are added up."""
    if not path.is_file():
        raise TableError("the file does not exist", path)
    try:
        with path.open("rb") as file:
            found = sparse.load_npz(file)
    except Exception:  # noqa: BLE001 -- a damaged file may raise anything
        raise TableError(
            "the file has no sparse matrix; write one with scipy.sparse.save_npz, or a dense table as CSV or Parquet",
            path,
        ) from None
    return check_matrix(found, path)


def has_entries(schema: Any) -> bool:  # noqa: ANN401 -- pyarrow has no types
    """Return whether a Parquet file has sparse features: lists of integers in `indices`, of numbers in `values`."""
    from pyarrow import types

    kinds = [schema.field(name).type for name in _ENTRIES if schema.get_field_index(name) >= 0]
    if len(kinds) < 2 or not all(types.is_list(kind) or types.is_large_list(kind) for kind in kinds):
        return False
    places, values = (kind.value_type for kind in kinds)
    return bool(types.is_integer(places) and (types.is_floating(values) or types.is_integer(values)))


def find_last_place(file: Any, group: int, window: int) -> int:  # noqa: ANN401 -- pyarrow has no types
    """Return the last place in a group of rows of a Parquet file: as the file says, or else from the rows."""
    from pyarrow import compute

    metadata = file.metadata.row_group(group)
    columns = (metadata.column(number) for number in range(metadata.num_columns))
    found = next(column for column in columns if column.path_in_schema.startswith(f"{_ENTRIES[0]}."))
    if found.statistics is not None and found.statistics.has_min_max:
        return int(found.statistics.max)
    batches = file.iter_batches(window, row_groups=[group], columns=[_ENTRIES[0]])
    return max(compute.max(batch.column(0).flatten()).as_py() or 0 for batch in batches)


def check_last_place(place: int, path: Path) -> None:
    """Raise an error for a place that is too large for a matrix."""
    if place > _LAST_PLACE:
        raise TableError(f"column 'indices' has the place {place}; expected at most {_LAST_PLACE}", path)


def read_entries(table: Any, path: Path, first_row: int = 0) -> sparse.csr_array:  # noqa: ANN401 -- pyarrow has no types
    """Read the sparse features of a Parquet file, or of some rows of it; equal places are added up."""
    places, values = (table.column(name).combine_chunks() for name in _ENTRIES)
    counts = [column.value_lengths().fill_null(0).to_numpy() for column in (places, values)]
    if (counts[0] != counts[1]).any():
        row = int(np.argmax(counts[0] != counts[1]))
        raise TableError(
            f"row {first_row + row + 1} has {_wording.count(int(counts[0][row]), 'place')} in 'indices', but "
            f"{int(counts[1][row]):,} in 'values'; each place needs its value",
            path,
        )
    columns, cells = places.flatten(), values.flatten().cast("double")
    if columns.null_count:
        raise TableError("column 'indices' has a list with a missing place", path)
    columns = columns.to_numpy()
    if len(columns) and columns.min() < 0:
        raise TableError(f"column 'indices' has the place {columns.min()}; expected 0 or more", path)
    if len(columns):
        check_last_place(int(columns.max()), path)
    ends = np.concatenate([[0], np.cumsum(counts[0])])
    shape = (len(counts[0]), int(columns.max()) + 1 if len(columns) else 1)
    cells = cells.to_numpy(zero_copy_only=False)
    return check_matrix(sparse.csr_array((cells, columns, ends), shape=shape), path, first_row)


def check_matrix(found: Any, path: Path, first_row: int = 0) -> sparse.csr_array:  # noqa: ANN401 -- any matrix of scipy
    """Return a matrix with sorted places, each of them once; raise an error for one that is damaged or not finite."""
    try:
        _check_places(found)
        matrix = sparse.csr_array(found)
        matrix.check_format(full_check=True)
        matrix = matrix.astype(np.float64, casting="same_kind" if found.dtype.kind != "b" else "unsafe")
    except (ValueError, TypeError) as error:
        raise TableError(f"the sparse matrix cannot be used: {error}", path) from None
    matrix.sum_duplicates()
    infinite = np.flatnonzero(np.isinf(matrix.data))
    if len(infinite):
        row = int(np.searchsorted(matrix.indptr, infinite[0], side="right"))
        raise TableError(f"row {first_row + row}, column {matrix.indices[infinite[0]]}: the number is infinite", path)
    return matrix


def _check_places(found: Any) -> None:  # noqa: ANN401 -- any sparse matrix of scipy
    """Refuse damaged places before scipy converts them, which it does without a look at them."""
    if hasattr(found, "indptr"):
        if (np.diff(found.indptr) < 0).any():  # which scipy does not check in a matrix that ends without an entry
            raise ValueError("its rows end before they begin")
        found.check_format(full_check=True)


def fit_width(raw: RawTable, features: int | None) -> sparse.csr_array:
    """Return sparse features with as many columns as expected; the last ones may be zero in all rows of a file."""
    matrix: Any = raw.matrix
    if features is None or matrix.shape[1] == features:
        return matrix  # type: ignore[no-any-return]
    if matrix.shape[1] > features:
        row = raw.first_row + int(np.searchsorted(matrix.indptr, np.argmax(matrix.indices >= features), side="right"))
        raise raw.error(
            f"row {row} has feature {matrix.indices[matrix.indices >= features][0]}, but there are {features:,} "
            "features, which are counted from 0; use the same numbers as for training"
        )
    return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], features))


def _parse(content: bytes) -> tuple[sparse.csr_array, Iterable[tuple[float, ...]]]:
    from sklearn.datasets import load_svmlight_file

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, about a file without rows
        return load_svmlight_file(io.BytesIO(content), multilabel=True, zero_based=True)  # type: ignore[no-any-return]


def _locate(content: bytes, path: Path) -> TableError | None:
    """Return the error of the first line that cannot be read."""
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            _parse(line)
        except (ValueError, OverflowError) as error:
            problem = str(error).removesuffix(".")
            return TableError(f"the line cannot be read: {problem}; expected 3,17 5:0.2 9:1", path, number)
    return None


def _name_class(label: float, row: int, path: Path) -> str:
    if not float(label).is_integer():
        raise TableError(f"row {row + 1} has the label {label}; expected a whole number, the name of a class", path)
    return str(int(label))

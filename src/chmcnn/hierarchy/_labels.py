"""Labels in every form that users have: label sets, names, numbers that are names, paths, matrices and DataFrames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

from chmcnn import _wording
from chmcnn.errors import LabelError
from chmcnn.hierarchy import _matrices
from chmcnn.hierarchy._hierarchy import Hierarchy

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy import sparse

    from chmcnn._typing import LabelsLike

_NUMBERS = (int, float, np.number, np.bool_)
_SEPARATORS = ("/", ">", "::", "|", "\\", ";", ":", ".", ",", "-", "_")
"""What labels that are paths may be separated by, the likeliest first."""


def label_matrix(labels: LabelsLike, hierarchy: Hierarchy, *, path_separator: str | None = None) -> sparse.csr_array:
    """Return a sparse boolean matrix (rows, classes) with all ancestors.

    Parameters
    ----------
    labels
        For each row a label set, a name, or an integer that is a name; or a 0/1 matrix in the order of
        ``hierarchy.classes``: an array, a tensor, a sparse matrix or nested lists; or a DataFrame whose columns are the
        classes, in any order.
    hierarchy
        The classes.
    path_separator
        Separator in labels that are paths; spaces around it do not count.

    Examples
    --------
    >>> tree = Hierarchy.from_paths(["a/b", "c"])
    >>> label_matrix(["a/b", "c"], tree).toarray().astype(int)
    array([[1, 1, 0],
           [0, 0, 1]])
    """
    rows = _parse(labels, hierarchy)
    if path_separator is not None and isinstance(rows, list):
        rows = [{name if name in hierarchy else trim_path(name, path_separator) for name in names} for names in rows]
    return _matrices.encode(hierarchy, rows) if isinstance(rows, list) else _matrices.close_sparse(hierarchy, rows)


def hierarchy_from_labels(labels: LabelsLike, path_separator: str = "/") -> Hierarchy:
    """Build the hierarchy of labels that are paths, in which spaces around the separator do not count.

    Labels without a separator are classes without parents, but if none has it, they are no paths: an error. Only
    integers may be classes without a hierarchy.

    >>> hierarchy_from_labels([{"a / b"}, {"c"}]).classes
    ('a', 'a/b', 'c')
    """
    if hasattr(labels, "columns"):
        return Hierarchy.from_paths([str(name) for name in labels.columns], path_separator)
    rows = _parse(labels)
    if not isinstance(rows, list):
        raise LabelError(
            "The labels are a 0/1 matrix without class names: pass hierarchy=, or label sets whose labels are paths."
        )
    names = set().union(*rows)
    if names and all(name.lstrip("-").isdecimal() for name in names):
        return Hierarchy.from_paths(sorted(names), path_separator)
    return hierarchy_from_paths(names, path_separator)


def hierarchy_from_paths(paths: Collection[str], separator: str) -> Hierarchy:
    """Build the hierarchy of paths, without spaces around the separator; refuse names that are no paths."""
    if separator and not any(separator in path for path in paths):
        raise LabelError(
            f"There is no hierarchy, and no label is a path with {separator!r}: {_describe_separator(paths)}pass "
            "hierarchy=, with edges for instance from a CSV file with the columns parent and child, or without edges: "
            "Hierarchy(names, [])."
        )
    return Hierarchy.from_paths(sorted(trim_path(path, separator) if separator else path for path in paths), separator)


def trim_path(path: str, separator: str) -> str:
    """Return a path without spaces around the separator.

    >>> trim_path("sport / tennis", "/")
    'sport/tennis'
    """
    return separator.join(part.strip() for part in path.split(separator))


def _describe_separator(paths: Collection[str]) -> str:
    """Return what the separator probably is: one that most paths have; empty if there is none."""
    example = max(paths, key=len, default="")
    for separator in _SEPARATORS:
        if sum(separator in path for path in paths) > len(paths) / 2:
            known = f"the separator in {example!r} seems to be {separator!r}"
            return f"{known}, so pass path_separator={separator!r}; otherwise "
    return ""


def _parse(labels: LabelsLike, hierarchy: Hierarchy | None = None) -> LabelsLike:
    """Return label sets as a list, or a matrix for `Hierarchy.close`."""
    if hierarchy is not None and hasattr(labels, "columns"):
        return _order_columns(labels, hierarchy)
    if hasattr(labels, "__array__") and not hasattr(labels, "ndim"):
        labels = np.asarray(labels)
    if getattr(labels, "ndim", 1) >= 2 or hasattr(labels, "toarray"):
        return labels
    rows = _list_rows(labels)
    if not rows:
        raise LabelError("The labels are empty; expected labels for at least one row.")
    if any(rows) and all(_is_matrix_row(row) for row in rows):
        return _stack(rows)
    return [_label_set(row, number) for number, row in enumerate(rows)]


def _order_columns(labels: pd.DataFrame, hierarchy: Hierarchy) -> NDArray[Any]:
    """Return the cells of a DataFrame whose columns are the classes, in the order of the classes."""
    names = [str(name) for name in labels.columns]
    for name, times in Counter(names).items():
        if name not in hierarchy:
            raise LabelError(f"The labels have a column {name!r}, which is not a class of the hierarchy; drop it.")
        if times > 1:
            raise LabelError(f"The labels have two columns {name!r}; drop one of them.")
    positions, cells = [hierarchy.index(name) for name in names], labels.to_numpy()
    given = np.zeros((1, len(hierarchy)), dtype=np.bool_)
    given[0, positions] = True
    missing = np.flatnonzero(~_matrices.close(hierarchy, given)[0])  # ancestors need no column: they are added
    if len(missing):
        name = hierarchy.classes[missing[0]]
        raise LabelError(f"The labels have no column {name!r}, which is a class of the hierarchy; add it.")
    ordered = np.zeros((len(cells), len(hierarchy)), dtype=cells.dtype)
    ordered[:, positions] = cells
    return ordered


def _list_rows(labels: LabelsLike) -> list[Any]:
    """Return rows of plain Python values."""
    if not isinstance(labels, str | bytes | Mapping | AbstractSet) and getattr(labels, "ndim", 1) == 1:
        try:
            rows = labels.tolist() if hasattr(labels, "tolist") else list(labels)
        except TypeError:
            pass
        else:
            return [row.tolist() if hasattr(row, "tolist") else row for row in rows]
    raise LabelError(
        f"Labels are {labels!r}, of type {type(labels).__name__}; expected a label set or a name for each row, or a "
        "0/1 matrix (rows, classes)."
    )


def _is_matrix_row(row: object) -> bool:
    return isinstance(row, list | tuple) and all(isinstance(cell, _NUMBERS) for cell in row)


def _stack(rows: list[Any]) -> NDArray[Any]:
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            cells = _wording.count(len(row), "cell")
            raise LabelError(f"Row {number} of the labels has {cells}, but row 0 has {len(rows[0])}.")
    return np.array(rows)


def _label_set(row: LabelsLike, number: int) -> Collection[str]:
    if isinstance(row, str):
        return (row,)
    if isinstance(row, int | np.integer) or (isinstance(row, float) and row.is_integer()):
        return (str(int(row)),)
    names: Collection[str] = row if isinstance(row, Collection) and not isinstance(row, Mapping) else (row,)
    for name in names:
        if not isinstance(name, str):
            empty = " A row without classes has an empty set." if name is None or name != name else ""  # noqa: PLR0124
            raise LabelError(
                f"Row {number} has the label {name!r}, of type {type(name).__name__}; expected a class name, which is "
                f"a string.{empty}"
            )
    return names

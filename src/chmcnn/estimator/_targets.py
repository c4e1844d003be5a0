"""Labels as a user has them: sets of names, paths or a matrix, to a hierarchy and a closed boolean matrix."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from chmcnn import _wording
from chmcnn.datasets.dataset import by_name
from chmcnn.errors import LabelError
from chmcnn.hierarchy import Hierarchy


def hierarchy_of(y: Any) -> Hierarchy:  # noqa: ANN401 -- whatever a user has
    """The hierarchy that label paths make; labels without a slash are classes without parents."""
    if hasattr(y, "columns"):
        return Hierarchy.from_paths([str(name) for name in y.columns])
    sets = label_sets(y)
    if sets is None:
        raise LabelError(
            "y is a 0/1 matrix, which has no names: give hierarchy=, or label sets whose labels are paths."
        )
    return Hierarchy.from_paths(sorted(set().union(*sets)))


def matrix(y: Any, hierarchy: Hierarchy) -> np.ndarray:  # noqa: ANN401
    """The labels as a boolean matrix (rows, classes) with all ancestors, dense."""
    if hasattr(y, "columns"):
        return hierarchy.close(by_name(y, hierarchy))
    sets = label_sets(y)
    if sets is not None:
        return hierarchy.encode(sets)
    closed = hierarchy.close(y)
    return closed if isinstance(closed, np.ndarray) else closed.toarray()


def label_sets(y: Any) -> list[Collection[str]] | None:  # noqa: ANN401
    """Label sets of names, of one name a row too; None where y is a matrix of numbers."""
    if hasattr(y, "__array__") and not hasattr(y, "ndim"):
        y = np.asarray(y)
    if getattr(y, "ndim", 1) == 2 or hasattr(y, "toarray"):
        return None
    rows = y.tolist() if hasattr(y, "tolist") else list(y)
    if not rows:
        raise LabelError("y is empty; expected labels of at least one row.")
    if all(isinstance(row, Sequence) and not isinstance(row, str) and _numbers(row) for row in rows) and any(rows):
        return None
    return [_labels(row, at) for at, row in enumerate(rows)]


def _labels(row: Any, at: int) -> Collection[str]:  # noqa: ANN401
    if isinstance(row, str):
        return (row,)
    if isinstance(row, Collection):
        return [name if isinstance(name, str) else _refuse(name, at) for name in row]
    if isinstance(row, int | np.integer) or (isinstance(row, float) and row.is_integer()):
        return (str(int(row)),)
    return [_refuse(row, at)]


def _numbers(row: Sequence[Any]) -> bool:
    return all(isinstance(cell, int | float | np.number | np.bool_) for cell in row)


def _refuse(value: object, at: int) -> str:
    raise LabelError(f"Row {at} of y has {value!r}; expected a set of class names. {_wording.unknown(value, ())}")

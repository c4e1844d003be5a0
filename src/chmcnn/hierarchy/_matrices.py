"""Label and score matrices in numpy: the methods of `Hierarchy`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from chmcnn import _wording
from chmcnn._sparse import refuse_damaged
from chmcnn.errors import HierarchyError, LabelError, ScoreError

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike, NDArray
    from scipy import sparse

    from chmcnn._typing import ScoresLike
    from chmcnn.hierarchy._hierarchy import Hierarchy

_CELLS_AT_ONCE = 1 << 22
"""Maximum number of cells (rows, edges) in memory at once."""


@dataclass(frozen=True, slots=True, repr=False)
class Violations:
    """Entries (row, edge) where a child scores above its parent, in the order of rows."""

    hierarchy: Hierarchy
    scores: NDArray[np.floating]
    row: NDArray[np.int64]
    parent: NDArray[np.int64]
    child: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of violations."""
        return len(self.row)

    def __repr__(self) -> str:
        rows = _wording.count(len(self.scores), "row")
        if not len(self):
            return f"0 violations in {rows}"
        row, parent, child = int(self.row[0]), int(self.parent[0]), int(self.child[0])
        return (
            f"{_wording.count(len(self), 'violation')} in {rows}, the first in row {row}: "
            f"{self.hierarchy.classes[child]!r} has {self.scores[row, child]:g}, "
            f"its parent {self.hierarchy.classes[parent]!r} {self.scores[row, parent]:g}"
        )


def encode(hierarchy: Hierarchy, label_sets: Iterable[Collection[str]]) -> sparse.csr_array:
    """Return label sets as a sparse boolean matrix with all ancestors."""
    from scipy import sparse

    columns: list[int] = []
    ends = [0]
    for row, labels in enumerate(label_sets):
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise LabelError(f"Row {row} is {labels!r}; expected a set of class names, such as {{{labels!r}}}.")
        try:
            columns.extend(sorted({hierarchy.index(label) for label in labels}))
        except HierarchyError as error:
            raise LabelError(f"Row {row}: {error}{_hint_at_separator(hierarchy, labels)}") from None
        ends.append(len(columns))
    values = np.ones(len(columns), dtype=np.bool_)
    return _close_sparse(hierarchy, sparse.csr_array((values, columns, ends), shape=(len(ends) - 1, len(hierarchy))))


def _hint_at_separator(hierarchy: Hierarchy, labels: Collection[str]) -> str:
    """Return what to do if a label is several classes in one text."""
    for label in labels:
        for separator in _wording.SEPARATORS:
            parts = _wording.split_known(label, separator, hierarchy) if isinstance(label, str) else []
            if parts:
                between = f"{separator} " if f"{separator} " in label else separator
                return f" {label!r} is {len(parts)} classes: split each row into a set, as by .str.split({between!r})."
    return ""


def decode(hierarchy: Hierarchy, labels: ArrayLike | sparse.sparray, *, most_specific: bool) -> list[set[str]]:
    """Return the label sets of a 0/1 matrix, dense or sparse."""
    from scipy import sparse

    matrix = sparse.csr_array(_as_labels(hierarchy, labels))
    if most_specific:
        has_child = (matrix.astype(np.int32) @ _child_to_parent(hierarchy)) > 0
        matrix = matrix > matrix.multiply(has_child)
    matrix.eliminate_zeros()
    names = np.array(hierarchy.classes, dtype=object)
    return [set(names[matrix.indices[start:end]]) for start, end in pairwise(matrix.indptr.tolist())]


@overload
def close(hierarchy: Hierarchy, labels: ArrayLike) -> NDArray[np.bool_]: ...
@overload
def close(hierarchy: Hierarchy, labels: sparse.sparray) -> sparse.csr_array: ...
def close(hierarchy: Hierarchy, labels: ArrayLike | sparse.sparray) -> NDArray[np.bool_] | sparse.csr_array:
    """Return a 0/1 matrix with all ancestors of each row's classes: dense for dense, sparse for sparse."""
    matrix = _as_labels(hierarchy, labels)
    return _close_dense(hierarchy, matrix) if isinstance(matrix, np.ndarray) else _close_sparse(hierarchy, matrix)


def close_sparse(hierarchy: Hierarchy, labels: ArrayLike | sparse.sparray) -> sparse.csr_array:
    """Return a 0/1 matrix with all ancestors as a sparse one, whatever it was."""
    from scipy import sparse

    return _close_sparse(hierarchy, sparse.csr_array(_as_labels(hierarchy, labels)))


def _close_dense(hierarchy: Hierarchy, matrix: NDArray[np.bool_]) -> NDArray[np.bool_]:
    by_class = np.ascontiguousarray(matrix.T)  # (classes, rows): an edge reads and writes whole rows
    edges, sizes = hierarchy.bottom_up()
    for level in np.split(edges, np.cumsum(sizes)[:-1]):
        parents, starts = np.unique(level[:, 0], return_index=True)
        by_class[parents] |= np.logical_or.reduceat(by_class[level[:, 1]], starts, axis=0)
    return np.ascontiguousarray(by_class.T)


def _close_sparse(hierarchy: Hierarchy, matrix: sparse.csr_array) -> sparse.csr_array:
    upward, matrix = _child_to_parent(hierarchy), _narrow(matrix)
    added = matrix
    while added.nnz:
        above = (added.astype(np.int32) @ upward).astype(np.bool_)
        added = above > above.multiply(matrix)
        matrix = matrix.maximum(added)
    matrix.sum_duplicates()  # sorted, each entry once: equal labels are equal matrices
    return matrix


def _narrow(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix with indices of 32 bits, which scipy keeps in all that is computed from it, if they suffice."""
    from scipy import sparse

    if max(matrix.nnz, *matrix.shape) > np.iinfo(np.int32).max:
        return matrix
    places = (part.astype(np.int32, copy=False) for part in (matrix.indices, matrix.indptr))
    return sparse.csr_array((matrix.data, *places), shape=matrix.shape)


def violations(hierarchy: Hierarchy, scores: ArrayLike | sparse.sparray) -> Violations:
    """Return the rows and edges where a child scores above its parent."""
    matrix = np.asarray(_as_dense(_order_frame(hierarchy, scores)))
    if matrix.ndim != 2 or matrix.shape[1] != len(hierarchy):
        raise ScoreError(_wording.wrong_shape("Scores", matrix.shape, len(hierarchy)))
    if np.isnan(matrix).any():
        row, column = np.argwhere(np.isnan(matrix))[0].tolist()
        raise ScoreError(f"The score in row {row} of class {hierarchy.classes[column]!r} is NaN.")
    blocks = [np.empty((0, 2), dtype=np.int64)]
    step = max(1, _CELLS_AT_ONCE // max(1, len(matrix)))
    for start in range(0, len(hierarchy.edges), step):
        parent, child = hierarchy.edges[start : start + step].T
        blocks.append(np.argwhere(matrix[:, child] > matrix[:, parent]) + np.array([0, start]))
    row, edge = np.concatenate(blocks).T
    order = np.argsort(row, kind="stable")
    parent, child = hierarchy.edges[edge[order]].T
    return Violations(hierarchy, matrix, row[order], parent, child)


def _as_labels(hierarchy: Hierarchy, labels: ArrayLike | sparse.sparray) -> NDArray[np.bool_] | sparse.csr_array:
    """Check a 0/1 matrix, and convert it to boolean, as CSR if it is sparse."""
    from scipy import sparse

    is_sparse = sparse.issparse(labels)
    refuse_damaged(labels, "The matrix of labels", LabelError)
    labels = _order_frame(hierarchy, labels)
    matrix: Any = sparse.csr_array(cast("Any", labels)) if is_sparse else np.asarray(_as_dense(labels))
    if matrix.ndim != 2 or matrix.shape[1] != len(hierarchy):
        raise LabelError(_wording.wrong_shape("Labels", matrix.shape, len(hierarchy)))
    rows, columns, cells = sparse.find(matrix) if is_sparse else (*np.nonzero(matrix), matrix[np.nonzero(matrix)])
    wrong = np.flatnonzero(cells != 1)
    if len(wrong):
        row, column, cell = rows[wrong[0]], columns[wrong[0]], cells[wrong[0]]
        value = cell.item() if isinstance(cell, np.generic) else cell
        raise LabelError(
            f"Labels have the value {value!r} in row {row}, class {hierarchy.classes[column]!r}; expected only 0 and "
            "1. Compare scores with a threshold first, such as scores >= 0.5."
        )
    boolean: NDArray[np.bool_] | sparse.csr_array = matrix.astype(np.bool_)
    return boolean


def _order_frame(hierarchy: Hierarchy, values: Any) -> Any:  # noqa: ANN401 -- anything that is like an array
    """Return a DataFrame whose columns are the classes in the order of the classes; all else as it is."""
    if not hasattr(values, "iloc") or len(values.columns) != len(hierarchy):
        return values
    names = [str(name) for name in values.columns]
    if not all(name in hierarchy for name in names) or len(set(names)) < len(names):
        return values
    return values.iloc[:, np.argsort([hierarchy.index(name) for name in names])]


def _as_dense(values: ScoresLike) -> ScoresLike:
    """Return values that numpy can read, also for a tensor on any device, and for a sparse matrix."""
    if hasattr(values, "detach"):
        return values.detach().cpu().double()
    return values.toarray() if hasattr(values, "toarray") else values


def _child_to_parent(hierarchy: Hierarchy) -> sparse.csr_array:
    from scipy import sparse

    parent, child = hierarchy.edges.T.astype(np.int32)  # so that labels have indices of 32 bits too
    size = len(hierarchy)
    return sparse.csr_array((np.ones(len(parent), dtype=np.int32), (child, parent)), shape=(size, size))

"""Check labels, scores and classes, which come in many forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from chmcnn._sparse import refuse_damaged
from chmcnn._wording import count, wrong_shape
from chmcnn.errors import LabelError, ScoreError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy

Matrix: TypeAlias = Any
"""An array, or a sparse matrix of scipy, which has no common type with it."""

_CELLS_AT_ONCE = 1 << 22
"""Maximum number of cells (rows, classes) that a measure works on at once."""


def iterate_rows(rows: int, cells: int) -> Iterator[slice]:
    """Yield blocks of rows that bound the memory of what is computed from them, at so many cells for each row.

    >>> list(iterate_rows(5, 1 << 21))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, _CELLS_AT_ONCE // max(1, cells))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def is_sparse(values: Matrix) -> bool:
    """Whether values are a sparse matrix of scipy."""
    return bool(sparse.issparse(values))


def as_matrix(values: LabelsLike | ScoresLike) -> Matrix:
    """Convert a tensor on any device or anything array-like to an array; a sparse matrix stays sparse."""
    if is_sparse(values):
        refuse_damaged(values, "Y or the matrix of scores", ScoreError)
        return values
    if hasattr(values, "detach"):
        tensor = values.detach().cpu()
        values = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ScoreError(f"Y and the scores must be matrices (rows, classes) of numbers: {error}") from None


def is_matrix(scores: ScoresLike) -> bool:
    """Whether scores are one matrix, in contrast to blocks of rows, or a function that returns blocks."""
    if hasattr(scores, "shape") or hasattr(scores, "__array__"):
        return True
    if isinstance(scores, list | tuple):
        return not scores or len(getattr(scores[0], "shape", ())) != 2
    return isinstance(scores, str | Mapping | AbstractSet) or not (callable(scores) or isinstance(scores, Iterable))


def open_blocks(scores: ScoresLike) -> Iterator[Matrix]:
    """Yield the blocks of scores, from the first one: one for a matrix."""
    if is_matrix(scores):
        return iter((as_matrix(scores),))
    if callable(scores):
        return open_blocks(scores())
    return map(as_matrix, scores)


def as_rows(scores: ScoresLike) -> Matrix:
    """Return one matrix whose rows can be selected, also from blocks: CSR if it is sparse."""
    blocks = list(open_blocks(scores))
    if not blocks:
        raise ScoreError("There are no blocks of scores; expected at least one.")
    if is_sparse(blocks[0]):
        return sparse.csr_array(sparse.vstack(blocks))
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


def require_rereadable(scores: ScoresLike) -> None:
    """Refuse blocks that can be read only once."""
    if isinstance(scores, Iterator):
        raise ScoreError(
            f"The scores are a {type(scores).__name__}, which can be read only once, but this measure reads them "
            "several times; pass a list of blocks, or a function that returns them, such as "
            "lambda: model.iterate_proba(X)."
        )


def select_columns(classes: ArrayLike | None, width: int) -> NDArray[np.int64] | None:
    """Return the positions of classes, from a mask or positions; None for all."""
    if classes is None:
        return None
    chosen = np.asarray(classes)
    if chosen.dtype == np.bool_ and chosen.shape == (width,):
        return None if chosen.all() else np.flatnonzero(chosen)
    if chosen.ndim == 1 and np.issubdtype(chosen.dtype, np.integer):
        outside = np.flatnonzero((chosen < 0) | (chosen >= width))
        if not len(outside):
            return chosen.astype(np.int64)
        raise ScoreError(
            f"classes[{outside[0]}] is {chosen[outside[0]]}, but there are {count(width, 'class')}: "
            f"positions range from 0 to {width - 1}."
        )
    raise ScoreError(
        f"classes has shape {chosen.shape} and type {chosen.dtype}; expected a mask of the {count(width, 'class')}, "
        "such as data.evaluated, or their positions: see hierarchy.index."
    )


def select_classes(Y: Matrix, hierarchy: Hierarchy, classes: ArrayLike | None) -> NDArray[np.bool_]:
    """Return a mask of the selected classes of a hierarchy; check that labels have its columns."""
    if Y.ndim != 2 or Y.shape[1] != len(hierarchy):
        raise ScoreError(wrong_shape("Labels", Y.shape, len(hierarchy)))
    selected = np.zeros(len(hierarchy), dtype=np.bool_)
    columns = select_columns(classes, len(hierarchy))
    selected[slice(None) if columns is None else columns] = True
    return selected


def as_labels(matrix: Matrix, columns: NDArray[np.int64] | None, what: str = "label") -> sparse.csr_array:
    """Return 0/1 labels (rows, columns) as a sorted boolean CSR matrix; dense ones are read some rows at a time."""
    if not is_sparse(matrix):
        return _compress(matrix, columns, what)
    chosen = sparse.csr_array(matrix if columns is None else matrix[:, columns])
    if not chosen.has_canonical_format:
        chosen = chosen.copy()  # the user's own stays as it is
        chosen.sum_duplicates()
    wrong = np.flatnonzero((chosen.data != 0) & (chosen.data != 1))
    if len(wrong):
        row = int(np.searchsorted(chosen.indptr, wrong[0], side="right")) - 1
        raise _refuse_label(what, row, _name_column(columns, chosen.indices[wrong[0]]), chosen.data[wrong[0]])
    if not chosen.data.all():
        chosen = chosen.copy()
        chosen.eliminate_zeros()
    return chosen.astype(np.bool_, copy=False)


def locate(labels: sparse.csr_array, rows: slice) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    """Return the row, counted within the block, and the column of each label of some rows."""
    ends = labels.indptr[rows.start : rows.stop + 1]
    return np.repeat(np.arange(len(ends) - 1), np.diff(ends)), labels.indices[ends[0] : ends[-1]]


def as_scores(block: NDArray[Any], start: int, columns: NDArray[np.int64] | None) -> NDArray[np.floating]:
    """Return scores as finite floating-point numbers; ``start`` is the number of their first row."""
    values = block if np.issubdtype(block.dtype, np.floating) else block.astype(np.float64)
    if not np.isfinite(values).all():
        place = _describe_first(values, ~np.isfinite(values), start, columns)
        raise ScoreError(f"The score {place}; expected finite numbers. Correct it, or exclude the class with classes=.")
    return values


def as_probabilities(block: NDArray[Any], start: int, columns: NDArray[np.int64] | None) -> NDArray[np.floating]:
    """Return scores that are from 0 to 1."""
    values = as_scores(block, start, columns)
    if values.size and (values.min() < 0 or values.max() > 1):
        place = _describe_first(values, (values < 0) | (values > 1), start, columns)
        raise ScoreError(f"The score {place}; expected probabilities from 0 to 1.")
    return values


def as_comparable(block: NDArray[Any], start: int, columns: NDArray[np.int64] | None) -> NDArray[Any]:
    """Return scores that are not NaN."""
    if np.isnan(block).any():
        raise ScoreError(f"The score {_describe_first(block, np.isnan(block), start, columns)}; expected a number.")
    return block


def as_predictions(block: NDArray[Any], start: int, columns: NDArray[np.int64] | None) -> NDArray[np.bool_]:
    """Return predicted labels as booleans."""
    return _as_boolean(block, start, columns, "predicted label")


def _compress(matrix: NDArray[Any], columns: NDArray[np.int64] | None, what: str) -> sparse.csr_array:
    """Return dense labels as CSR."""
    width = matrix.shape[1] if columns is None else len(columns)
    found, sizes = [], []
    for rows in iterate_rows(len(matrix), width):
        block = _as_boolean(take_columns(matrix[rows], columns), rows.start, columns, what)
        found.append(np.flatnonzero(block) % width if width else np.empty(0, dtype=np.int64))
        sizes.append(np.count_nonzero(block, axis=1))
    ends = np.concatenate([[0], np.cumsum(np.concatenate([*sizes, np.empty(0, dtype=np.int64)]))])
    indices = np.concatenate([*found, np.empty(0, dtype=np.int64)])
    return sparse.csr_array((np.ones(len(indices), dtype=np.bool_), indices, ends), shape=(len(matrix), width))


def take_columns(block: NDArray[Any], columns: NDArray[np.int64] | None) -> NDArray[Any]:
    """Return the columns of some classes; the block itself for all."""
    return block if columns is None else block.take(columns, axis=1)


def _as_boolean(block: NDArray[Any], start: int, columns: NDArray[np.int64] | None, what: str) -> NDArray[np.bool_]:
    if block.dtype == np.bool_:
        return block
    wrong = (block != 0) & (block != 1)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise _refuse_label(what, start + row, _name_column(columns, column), block[row, column])
    return block.astype(np.bool_)


def _refuse_label(what: str, row: int, column: int, value: Any) -> LabelError:  # noqa: ANN401 -- any number
    return LabelError(
        f"The {what} in row {row}, column {column} is {value}; expected only 0 and 1. Compare scores with a threshold "
        "first, such as scores >= 0.5."
    )


def _describe_first(
    values: NDArray[Any], wrong: NDArray[np.bool_], start: int, columns: NDArray[np.int64] | None
) -> str:
    """Describe the first wrong value: its row in the whole, its column in the input, and the value."""
    row, column = np.argwhere(wrong)[0]
    return f"in row {start + row}, column {_name_column(columns, column)} is {values[row, column]}"


def _name_column(columns: NDArray[np.int64] | None, column: int) -> int:
    return int(column if columns is None else columns[column])

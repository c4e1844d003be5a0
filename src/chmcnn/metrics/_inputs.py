"""Check the input of measures and select classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chmcnn._wording import count
from chmcnn.errors import LabelError, ScoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike

_CELLS_AT_ONCE = 1 << 22
"""Maximum number of cells (rows, classes) that a measure works on at once."""


def iterate_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield blocks of rows of a matrix that bound the memory of what is computed from them.

    >>> list(iterate_blocks((5, 1 << 21)))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    rows, columns = shape
    step = max(1, _CELLS_AT_ONCE // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def check_scores(
    Y: LabelsLike,
    scores: ScoresLike,
    classes: ArrayLike | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.floating]]:
    """Check labels and scores of the same shape (rows, classes), and select the columns of ``classes``."""
    truth, values, positions = _check_matrices(Y, scores, classes)
    if not np.issubdtype(values.dtype, np.floating):
        values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ScoreError(
            f"The score {_describe_first(values, ~np.isfinite(values), positions)}; expected finite numbers. "
            "Correct it, or exclude the class with classes=."
        )
    return truth, values


def check_predictions(
    Y: LabelsLike,
    predicted: LabelsLike,
    classes: ArrayLike | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Check true and predicted labels of the same shape, and select the columns of ``classes``."""
    truth, values, positions = _check_matrices(Y, predicted, classes)
    return truth, _to_boolean(values, positions, "predicted label")


def to_dense(values: LabelsLike | ScoresLike) -> NDArray[Any]:
    """Convert a tensor on any device, a sparse matrix or anything array-like to an array."""
    if hasattr(values, "detach"):
        tensor = values.detach().cpu()
        values = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def select_columns(classes: ArrayLike | None, width: int) -> NDArray[Any] | None:
    """Check a mask or positions of columns; return None if it selects all."""
    if classes is None:
        return None
    chosen = np.asarray(classes)
    if chosen.dtype == np.bool_ and chosen.shape == (width,):
        return None if chosen.all() else chosen
    if chosen.ndim == 1 and np.issubdtype(chosen.dtype, np.integer):
        outside = np.flatnonzero((chosen < 0) | (chosen >= width))
        if not len(outside):
            return chosen
        raise ScoreError(
            f"classes[{outside[0]}] is {chosen[outside[0]]}, but there are {count(width, 'class')}: "
            f"positions range from 0 to {width - 1}."
        )
    raise ScoreError(
        f"classes has shape {chosen.shape} and type {chosen.dtype}; expected a mask of the {count(width, 'class')}, "
        "such as data.evaluated, or their positions: see hierarchy.index."
    )


def _check_matrices(
    Y: LabelsLike,
    scores: ScoresLike,
    classes: ArrayLike | None,
) -> tuple[NDArray[np.bool_], NDArray[Any], NDArray[np.int64]]:
    """Return labels and scores of the selected classes, and the positions of these classes."""
    try:
        truth, values = to_dense(Y), to_dense(scores)
    except ValueError as error:
        raise ScoreError(f"Y and the scores must be matrices (rows, classes) of numbers: {error}") from None
    if truth.ndim != 2 or truth.shape != values.shape:
        raise ScoreError(
            f"Y has shape {truth.shape} and the scores {values.shape}; expected the same, (rows, classes). "
            "hierarchy.encode turns label sets into a matrix."
        )
    for name, matrix in (("Y has", truth), ("The scores have", values)):
        if matrix.dtype.kind not in "biuf":
            raise ScoreError(
                f"{name} type {matrix.dtype}; expected numbers. hierarchy.encode turns names into a matrix."
            )
    chosen = select_columns(classes, truth.shape[1])
    positions = np.arange(truth.shape[1])
    if chosen is not None:
        truth, values, positions = truth[:, chosen], values[:, chosen], positions[chosen]
    if truth.size == 0:
        raise ScoreError(
            f"There is nothing to measure: {count(len(truth), 'row')} and {count(truth.shape[1], 'class')}; "
            "expected at least one of each."
        )
    return _to_boolean(truth, positions, "label"), values, positions


def _to_boolean(matrix: NDArray[Any], positions: NDArray[np.int64], what: str) -> NDArray[np.bool_]:
    if matrix.dtype == np.bool_:
        return matrix
    valid = (matrix == 0) | (matrix == 1)
    if not valid.all():
        raise LabelError(
            f"The {what} {_describe_first(matrix, ~valid, positions)}; expected only 0 and 1. Compare scores with a "
            "threshold first, such as scores >= 0.5."
        )
    return matrix.astype(np.bool_)


def _describe_first(matrix: NDArray[Any], wrong: NDArray[np.bool_], positions: NDArray[np.int64]) -> str:
    """Describe the first wrong value: its row, its column in the input, and the value."""
    row, column = np.argwhere(wrong)[0]
    return f"in row {row}, column {positions[column]} is {matrix[row, column]}"

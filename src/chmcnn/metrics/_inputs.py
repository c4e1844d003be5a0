"""Checking what a measure is given, and keeping the classes that count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chmcnn.errors import LabelError, ScoreError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def truth_and_scores(
    Y: Any,  # noqa: ANN401, N803 -- whatever a user has
    scores: Any,  # noqa: ANN401
    classes: ArrayLike | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.floating]]:
    """Check labels and scores of the same shape (rows, classes), and take the columns that count."""
    truth, given = _dense(Y), _dense(scores)
    if truth.ndim != 2 or truth.shape != given.shape:
        raise ScoreError(f"Y has shape {truth.shape} and the scores {given.shape}; expected the same, (rows, classes).")
    if not np.issubdtype(given.dtype, np.floating):
        given = given.astype(np.float64)
    columns = _columns(classes, truth.shape[1])
    if columns is not None:
        truth, given = truth[:, columns], given[:, columns]
    if truth.size == 0:
        raise ScoreError(f"There is nothing to measure: {truth.shape[0]} rows and {truth.shape[1]} classes count.")
    if truth.dtype != np.bool_:
        if not np.isin(truth, (0, 1)).all():
            raise LabelError("Y has other values than 0 and 1.")
        truth = truth.astype(np.bool_)
    if not np.isfinite(given).all():
        row, column = np.argwhere(~np.isfinite(given))[0].tolist()
        raise ScoreError(f"The score in row {row}, column {column} of those that count is {given[row, column]}.")
    return truth, given


def two_label_matrices(
    Y: Any,  # noqa: ANN401, N803
    predicted: Any,  # noqa: ANN401
    classes: ArrayLike | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Check true and predicted labels of the same shape, and take the columns that count."""
    truth, given = truth_and_scores(Y, predicted, classes)
    if not np.isin(given, (0, 1)).all():
        raise LabelError("The predicted labels have other values than 0 and 1; compare scores with a threshold first.")
    return truth, given.astype(np.bool_)


def _dense(values: Any) -> NDArray[Any]:  # noqa: ANN401
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _columns(classes: ArrayLike | None, width: int) -> NDArray[Any] | None:
    """A mask or positions of columns; None where all count."""
    if classes is None:
        return None
    chosen = np.asarray(classes)
    if chosen.dtype == np.bool_ and chosen.shape == (width,):
        return None if chosen.all() else chosen
    if np.issubdtype(chosen.dtype, np.integer) and chosen.ndim == 1 and ((chosen >= 0) & (chosen < width)).all():
        return chosen
    raise ScoreError(
        f"classes has shape {chosen.shape} and type {chosen.dtype}; expected a mask of the {width} classes, such as "
        "data.evaluated, or their positions."
    )

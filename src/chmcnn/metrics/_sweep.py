"""Precision, recall and counts at thresholds from 0 to 1, in one pass over blocks of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chmcnn._wording import count
from chmcnn.errors import ScoreError
from chmcnn.metrics import _inputs
from chmcnn.metrics._pairs import Pairs, pair_scores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray
    from scipy import sparse

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.metrics._pairs import Check


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """What holds at each threshold; a class counts as much as its weight."""

    thresholds: NDArray[np.float64]
    precision: NDArray[np.float64]  # mean over rows with a prediction
    recall: NDArray[np.float64]  # mean over rows with a label
    correct: NDArray[np.float64]  # predicted labels that are true, of all rows
    predicted: NDArray[np.float64]  # predicted labels of all rows
    labels: float  # true labels of all rows
    rows: int  # rows with a label


def sweep(Y: LabelsLike, scores: ScoresLike, *, classes: ArrayLike | None = None, steps: int = 100) -> Sweep:
    """Return precision, recall and counts at the thresholds 1 / steps, 2 / steps, ... below 1.

    >>> found = sweep([[1, 1, 0], [1, 0, 1]], [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6]], steps=4)
    >>> found.thresholds, found.precision, found.recall
    (array([0.25, 0.5 , 0.75]), array([1., 1., 1.]), array([1. , 1. , 0.5]))
    """
    return sweep_weighted(Y, scores, classes=classes, steps=steps)


def sweep_weighted(
    Y: LabelsLike,
    scores: ScoresLike,
    *,
    classes: ArrayLike | None,
    steps: int,
    information: ArrayLike | None = None,
    known: LabelsLike | None = None,
    check: Check = _inputs.as_scores,
) -> Sweep:
    """Return a sweep with weights of the classes, without labels that were known before; see `fmax`."""
    if steps < 2:
        raise ScoreError(f"steps is {steps}; expected 2 or more.")
    thresholds = np.arange(1, steps) / steps
    pairs = pair_scores(Y, scores, classes, check=check)
    weights = _select_weights(information, pairs)
    before = None if known is None else _read_known(known, pairs)
    pairs = pairs if before is None else _leave_out(pairs, before)
    totals = np.zeros((4, len(thresholds)))
    with_prediction, with_label = np.zeros(len(thresholds), dtype=np.int64), 0
    for block in _iterate(pairs, before, weights, steps):
        every, true = block.sum_reached(thresholds)
        labels = np.bincount(block.row, block.weights[block.column], len(true))[:, None]
        with_prediction += (every > 0).sum(axis=0)
        with_label += len(np.unique(block.row))
        parts = (true, every, _divide(true, every), _divide(true, np.broadcast_to(labels, true.shape)))
        for row in np.stack(parts, axis=1):  # one by one: the order of a sum decides its last digit
            totals += row
    correct, predicted, precision, recall = totals
    return Sweep(
        thresholds=thresholds,
        precision=precision / np.maximum(with_prediction, 1),
        recall=recall / max(with_label, 1),
        correct=correct,
        predicted=predicted,
        labels=float((pairs.truth @ weights).sum()),
        rows=int((pairs.sizes > 0).sum()),
    )


class Block(NamedTuple):
    """Some rows: their scores, where their labels are, and the weights of the classes."""

    scores: NDArray[np.floating]
    row: NDArray[np.int64]
    column: NDArray[np.integer]
    weights: NDArray[np.float64]

    def sum_reached(self, thresholds: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sum in each row the weights of all classes, and of the true ones, at or above each threshold."""
        rows, width = self.scores.shape
        size = len(thresholds) + 1

        def accumulate(row: NDArray[np.integer], column: NDArray[np.integer]) -> NDArray[np.float64]:
            place = row * size + np.searchsorted(thresholds, self.scores[row, column], side="right")
            sums = np.bincount(place, self.weights[column], rows * size).reshape(rows, size)
            return sums[:, :0:-1].cumsum(axis=1)[:, ::-1]

        every = accumulate(*np.divmod(np.flatnonzero(self.scores >= thresholds[0]), width))
        return every, accumulate(self.row, self.column)


def _iterate(
    pairs: Pairs, before: sparse.csr_array | None, weights: NDArray[np.float64], steps: int
) -> Iterator[Block]:
    """Yield blocks of rows; one class of all rows is one row, which gives the same result far faster."""
    blocks = ((rows, _hide(values, rows, pairs, before)) for rows, values in pairs.iterate(cells=steps))
    if pairs.truth.shape[1] > 1:
        yield from (Block(values, *pairs.locate(rows), weights) for rows, values in blocks)
        return
    column = np.concatenate([values for _, values in blocks])
    true = np.flatnonzero(pairs.sizes)
    yield Block(column.T, np.zeros_like(true), true, np.broadcast_to(weights, len(column)))


def _hide(
    values: NDArray[np.floating], rows: slice, pairs: Pairs, before: sparse.csr_array | None
) -> NDArray[np.floating]:
    """Return scores with 0 for labels that were known before, and for rows without any other label."""
    if before is None:
        return values
    hidden = values.copy()
    hidden[_inputs.locate(before, rows)] = 0
    hidden[pairs.sizes[rows] == 0] = 0
    return hidden


def _select_weights(information: ArrayLike | None, pairs: Pairs) -> NDArray[np.float64]:
    width, columns = pairs.blocks.width, pairs.blocks.columns
    weights = np.ones(width) if information is None else np.asarray(information, dtype=np.float64)
    if weights.shape != (width,):
        raise ScoreError(
            f"information has shape {weights.shape}, but there are {count(width, 'class')}; expected one "
            "number per class, as returned by information_content."
        )
    if not np.isfinite(weights).all():
        at = int(np.flatnonzero(~np.isfinite(weights))[0])
        raise ScoreError(f"information[{at}] is {weights[at]}; expected a finite number for each class.")
    return weights if columns is None else weights[columns]


def _read_known(known: LabelsLike, pairs: Pairs) -> sparse.csr_array:
    matrix, expected = _inputs.as_matrix(known), (pairs.truth.shape[0], pairs.blocks.width)
    if matrix.shape != expected:
        raise ScoreError(f"known has shape {matrix.shape} and Y {expected}; expected the same, (rows, classes).")
    return _inputs.as_labels(matrix, pairs.blocks.columns, "known label")


def _leave_out(pairs: Pairs, before: sparse.csr_array) -> Pairs:
    """Return pairs without the labels that were known before."""
    new = _inputs.as_labels(pairs.truth > pairs.truth.multiply(before), None)
    if not new.nnz:
        raise ScoreError("Every label is known before: there is nothing to measure.")
    return Pairs(new, pairs.blocks)


def _divide(parts: NDArray[Any], wholes: NDArray[Any]) -> NDArray[np.float64]:
    """Divide, with 0 where there is nothing to divide by."""
    shares = np.zeros(parts.shape)
    np.divide(parts, wholes, out=shares, where=wholes > 0)
    return shares

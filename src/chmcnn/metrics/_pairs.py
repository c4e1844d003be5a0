"""Labels and scores side by side, in blocks of rows: no measure holds rows x classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from chmcnn._wording import count, wrong_shape
from chmcnn.errors import ScoreError
from chmcnn.metrics import _inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray
    from scipy import sparse

    from chmcnn._typing import LabelsLike, ScoresLike

Check: TypeAlias = Callable[[Any, int, Any], Any]
"""Checks and converts a block of scores, from the number of its first row, and the positions of its classes."""


def pair_scores(
    Y: LabelsLike, scores: ScoresLike, classes: ArrayLike | None = None, *, check: Check = _inputs.as_scores
) -> Pairs:
    """Check labels, and return them beside scores, of the selected classes.

    Parameters
    ----------
    Y
        True labels (rows, classes), dense or sparse.
    scores
        A matrix (rows, classes), blocks of its rows, or a function without arguments that returns such blocks.
    classes
        Mask or positions of classes; all by default.
    check
        What a block of scores is checked and converted by.
    """
    labels = _inputs.as_matrix(Y)
    if labels.ndim != 2:
        raise ScoreError(
            f"Y has shape {labels.shape}; expected (rows, classes). hierarchy.encode turns label sets into a matrix."
        )
    if labels.dtype.kind not in "biuf":
        raise ScoreError(f"Y has type {labels.dtype}; expected numbers. hierarchy.encode turns names into a matrix.")
    if _inputs.is_matrix(scores):
        scores = _inputs.as_matrix(scores)
        if scores.shape != labels.shape:
            raise ScoreError(
                f"Y has shape {labels.shape} and the scores {scores.shape}; expected the same, (rows, classes). "
                "hierarchy.encode turns label sets into a matrix."
            )
    columns = _inputs.select_columns(classes, labels.shape[1])
    rows, selected = labels.shape[0], labels.shape[1] if columns is None else len(columns)
    if not rows or not selected:
        raise ScoreError(
            f"There is nothing to measure: {count(rows, 'row')} and {count(selected, 'class')}; "
            "expected at least one of each."
        )
    return Pairs(_inputs.as_labels(labels, columns), ScoreBlocks(scores, labels.shape[1], columns, check))


def pair_predictions(Y: LabelsLike, predicted: LabelsLike, classes: ArrayLike | None = None) -> Pairs:
    """Check true labels, and return them beside predicted labels, of the selected classes."""
    return pair_scores(Y, predicted, classes, check=_inputs.as_predictions)


@dataclass(frozen=True, slots=True)
class ScoreBlocks:
    """Scores of some classes, read in blocks of rows that are bounded by their cells."""

    scores: ScoresLike
    width: int  # number of classes of the input
    columns: NDArray[np.int64] | None  # the selected classes; None for all
    check: Check

    def iterate(self, cells: int = 0) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield which rows a block has, and its scores; a block is smaller if a row needs more cells than classes."""
        cells = max(cells, self.width if self.columns is None else len(self.columns))
        start = 0
        for number, matrix in enumerate(_inputs.open_blocks(self.scores)):
            self._check_block(matrix, number)
            packed = _inputs.is_sparse(matrix)
            matrix = matrix.tocsr() if packed else matrix  # noqa: PLW2901 -- the same block
            for rows in _inputs.iterate_rows(matrix.shape[0], max(cells, self.width) if packed else cells):
                block = matrix[rows].toarray() if packed else matrix[rows]
                first = start + rows.start
                values = self.check(_inputs.take_columns(block, self.columns), first, self.columns)
                yield slice(first, start + rows.stop), values
            start += matrix.shape[0]

    def _check_block(self, matrix: _inputs.Matrix, number: int) -> None:
        if matrix.ndim != 2 or matrix.shape[1] != self.width:
            what = "Scores" if _inputs.is_matrix(self.scores) else f"Scores of block {number}"
            raise ScoreError(wrong_shape(what, matrix.shape, self.width))
        if matrix.dtype.kind not in "biuf":
            raise ScoreError(
                f"The scores have type {matrix.dtype}; expected numbers. hierarchy.encode turns names into a matrix."
            )


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labels of some rows and classes, and their scores in blocks."""

    truth: sparse.csr_array  # (rows, selected classes), boolean, sorted
    blocks: ScoreBlocks

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of labels of each row."""
        return np.diff(self.truth.indptr).astype(np.int64)

    def iterate(self, cells: int = 0) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield which rows a block has, and its scores (rows, selected classes), which nobody may change."""
        expected, end = self.truth.shape[0], 0
        for rows, values in self.blocks.iterate(cells):
            end = rows.stop
            if end > expected:
                break
            yield rows, values
        if end != expected:
            found = f"more than {count(expected, 'row')}" if end > expected else f"only {count(end, 'row')}"
            raise ScoreError(
                f"The blocks of scores have {found}, but Y has {expected:,}; expected the blocks of the same rows, in "
                "their order."
            )

    def locate(self, rows: slice) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
        """Return the row, counted within the block, and the column of each label of some rows."""
        return _inputs.locate(self.truth, rows)

    def restrict(self, chosen: NDArray[np.int64]) -> Pairs:
        """Keep some of the selected classes."""
        columns = self.blocks.columns
        kept = chosen if columns is None else columns[chosen]
        return Pairs(_inputs.as_labels(self.truth, chosen), replace(self.blocks, columns=kept))

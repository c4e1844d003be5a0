"""Calibration of probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import as_probabilities
from chmcnn.metrics._pairs import pair_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """Pairs of a row and a class in bins of equal width by their probability."""

    cells: NDArray[np.int64]  # number of pairs
    positives: NDArray[np.int64]  # pairs that are true
    probabilities: NDArray[np.float64]  # sum of the probabilities

    def __add__(self, other: Reliability) -> Reliability:
        """Return the pairs of both, which have the same bins."""
        return Reliability(
            self.cells + other.cells, self.positives + other.positives, self.probabilities + other.probabilities
        )

    @property
    def error(self) -> float:
        """Mean over all pairs of the distance between mean probability and share of positives of their bin."""
        return float(np.abs(self.positives - self.probabilities).sum() / self.cells.sum())


def reliability(
    Y: LabelsLike, probabilities: ScoresLike, *, classes: ArrayLike | None = None, bins: int = 15
) -> Reliability:
    """What is said and what is true, in bins of equal width by the probability.

    >>> found = reliability([[1], [0], [0]], [[0.75], [0.75], [0.25]], bins=2)
    >>> found.cells, found.positives, found.probabilities
    (array([1, 2]), array([0, 1]), array([0.25, 1.5 ]))
    """
    if bins < 1:
        raise ScoreError(f"bins is {bins}; expected 1 or more.")
    pairs = pair_scores(Y, probabilities, classes, check=as_probabilities)
    cells, positives = np.zeros((2, bins), dtype=np.int64)
    total = np.zeros(bins)
    for rows, values in pairs.iterate():
        place = np.minimum((values * bins).astype(np.int64), bins - 1)
        cells += np.bincount(place.ravel(), minlength=bins)
        positives += np.bincount(place[pairs.locate(rows)], minlength=bins)
        np.add.at(total, place.ravel(), values.ravel())  # cell by cell, so that blocks change no digit
    return Reliability(cells, positives, total)


def calibration_error(
    Y: LabelsLike,
    probabilities: ScoresLike,
    *,
    classes: ArrayLike | None = None,
    bins: int = 15,
) -> float:
    """Expected calibration error: the distance of probabilities from the observed share of positives.

    All pairs of a row and a class fall into bins of equal width by their probability; the error is the mean over bins,
    weighted by their size, of the distance between mean probability and share of positives.

    >>> calibration_error([[1], [0]], [[0.75], [0.75]], bins=2)
    0.25
    """
    return reliability(Y, probabilities, classes=classes, bins=bins).error


def count_by_score(
    Y: LabelsLike, probabilities: ScoresLike, edges: NDArray[np.float64], *, classes: ArrayLike | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count all pairs of a row and a class, and the true ones, at or above each edge but below the next.

    Edges are sorted, and the first is 0.

    >>> count_by_score([[1, 0], [0, 0]], [[0.9, 0.2], [0.4, 0.6]], np.array([0, 0.5]))
    (array([2, 2]), array([0, 1]))
    """
    pairs = pair_scores(Y, probabilities, classes, check=as_probabilities)
    cells, positives = np.zeros((2, len(edges)), dtype=np.int64)
    for rows, values in pairs.iterate():
        ordered = np.sort(values, axis=None)  # far faster than to look up each score
        cells += np.diff(np.searchsorted(ordered, edges.astype(values.dtype)), append=values.size)
        positives += np.bincount(
            np.searchsorted(edges, values[pairs.locate(rows)], side="right") - 1, minlength=len(edges)
        )
    return cells, positives

"""Calibration of probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import as_probabilities
from chmcnn.metrics._pairs import pair_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chmcnn._typing import LabelsLike, ScoresLike


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
    if bins < 1:
        raise ScoreError(f"bins is {bins}; expected 1 or more.")
    pairs = pair_scores(Y, probabilities, classes, check=as_probabilities)
    gaps = np.zeros(bins)
    for rows, values in pairs.iterate():
        bin_index = np.minimum((values * bins).astype(np.int64), bins - 1)
        distance = -values.astype(np.float64)
        distance[pairs.locate(rows)] += 1
        np.add.at(gaps, bin_index.ravel(), distance.ravel())  # cell by cell, so that blocks change no digit
    return float(np.abs(gaps).sum() / math.prod(pairs.truth.shape))

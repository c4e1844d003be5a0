"""Calibration of probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import check_scores

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
    truth, values = check_scores(Y, probabilities, classes)
    if values.min() < 0 or values.max() > 1:
        raise ScoreError(f"Probabilities range from {values.min():g} to {values.max():g}; expected 0 to 1.")
    if bins < 1:
        raise ScoreError(f"bins is {bins}; expected 1 or more.")
    flat = values.ravel()
    bin_index = np.minimum((flat * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(bin_index, weights=truth.ravel() - flat.astype(np.float64), minlength=bins)
    return float(np.abs(gaps).sum() / flat.size)

"""A check of what a system returns, which may be of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-4
"""By how much a probability may be off."""


def check_system_scores(scores: Any, shape: tuple[int, int], system: str) -> NDArray[np.floating]:  # noqa: ANN401
    """Return the scores of a system: one probability for each row and class.

    >>> check_system_scores([[0.5, 2.0]], (1, 2), "Mine")
    Traceback (most recent call last):
    chmcnn.errors.ChmcnnError: Mine returns scores from 0.5 to 2.0; expected probabilities from 0 to 1.
    """
    matrix = np.asarray(scores)
    if matrix.shape != shape:
        raise ChmcnnError(f"{system} returns scores of shape {matrix.shape}; expected {shape}, (rows, classes).")
    if matrix.dtype.kind not in "biuf":
        raise ChmcnnError(f"{system} returns scores of type {matrix.dtype}; expected probabilities from 0 to 1.")
    matrix = matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float32)
    least, most = (matrix.min(), matrix.max()) if matrix.size else (0, 0)
    if least >= 0 and most <= 1:
        return matrix
    if not (np.isfinite(least) and np.isfinite(most)):
        raise ChmcnnError(f"{system} returns scores that are not finite numbers; expected probabilities from 0 to 1.")
    if least < -_ROUNDING or most > 1 + _ROUNDING:
        raise ChmcnnError(
            f"{system} returns scores from {float(least)} to {float(most)}; expected probabilities from 0 to 1."
        )
    return matrix.clip(0, 1)

"""Calibration: one increasing map from coherent scores to probabilities, for all classes, learnt on validation rows.

No score rises above that of a parent under one map for all classes: what was coherent stays so. The map is a list of
points with straight lines between them, whatever it was learnt by, because additions, products and comparisons keep
the order of numbers even with rounding, and logarithms and powers do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from scipy.optimize import isotonic_regression, minimize_scalar
from scipy.special import expit, logit

from chmcnn import metrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn._typing import LabelsLike, ScoresLike

CalibrationMethod = Literal["temperature", "isotonic", "venn-abers"]

_LOGITS = np.concatenate([np.arange(-1024, -256) / 64, np.arange(-1024, 1024) / 256, np.arange(256, 1025) / 64])
SCORE_GRID = np.concatenate([[0], expit(_LOGITS)]).astype(np.float32).astype(np.float64)
"""Scores from 0 to 1, the densest where most scores of labels are, in single precision as scores are."""

_ORDER = 1e-3
"""Part of the old score in a probability. It keeps the order of scores that are calibrated to the same probability."""
_CELLS_AT_ONCE = 1 << 22
"""Scores that are calibrated at once: it needs some times their memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Points of the map, both coordinates rising from 0.

    >>> halved = Calibration("isotonic", np.array([0.0, 1.0]), np.array([0.0, 0.5]))
    >>> halved.apply(torch.tensor([[0.8, 0.2]])), halved.invert(torch.tensor([[0.4, 0.1]]))
    (tensor([[0.4000, 0.1000]]), tensor([[0.8000, 0.2000]]))
    """

    method: CalibrationMethod
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    def apply(self, scores: Tensor) -> Tensor:
        """Return probabilities, in the shape and the type of scores."""
        return _interpolate(scores, self.scores, self.probabilities)

    def invert(self, probabilities: Tensor) -> Tensor:
        """Return the scores that probabilities were computed from, up to rounding."""
        return _interpolate(probabilities, self.probabilities, self.scores)


def _interpolate(values: Tensor, x: NDArray[np.float64], y: NDArray[np.float64]) -> Tensor:
    """Return values on the lines between points; never out of order, even with rounding."""
    start, low = (torch.from_numpy(part).to(values.device) for part in (x, y))
    slope = low.diff() / start.diff()

    def interpolate(part: Tensor) -> Tensor:
        exact = part.double()
        at = _locate(start, exact).clamp(max=len(x) - 2)
        return torch.minimum(low[at] + slope[at] * (exact - start[at]), low[at + 1]).to(values.dtype)

    if torch.compiler.is_exporting():
        return interpolate(values)
    flat = values.reshape(-1)
    return torch.cat([interpolate(part) for part in flat.split(_CELLS_AT_ONCE)]).reshape(values.shape)


def _locate(points: Tensor, values: Tensor) -> Tensor:
    """Return the position of the last point at or below each value; the first point is the lowest of all."""
    if not torch.compiler.is_exporting():
        return torch.searchsorted(points, values, right=True) - 1
    at = torch.zeros_like(values, dtype=torch.int64)  # ONNX has no search: halve the step until it is 1
    for step in (1 << power for power in reversed(range((len(points) - 1).bit_length()))):
        further = (at + step).clamp(max=len(points) - 1)
        at = torch.where(points[further] <= values, further, at)
    return at


def learn_calibration(
    Y: LabelsLike, scores: ScoresLike, method: CalibrationMethod, evaluated: NDArray[np.bool_] | None = None
) -> Calibration:
    """Learn the map from coherent scores of rows that the model was not trained on, and their labels.

    Scores are a matrix, or blocks of rows, as for measures. They are counted between the points of `SCORE_GRID`.

    >>> scores = np.array([[0.9], [0.9], [0.9], [0.9], [0.2], [0.2]])
    >>> found = learn_calibration([[1], [1], [1], [0], [0], [0]], scores, "isotonic")
    >>> found.apply(torch.tensor([0.2, 0.9])).round(decimals=2)
    tensor([0.0000, 0.7500])
    """
    cells, positives = metrics.count_by_score(Y, scores, SCORE_GRID, classes=evaluated)
    seen = np.flatnonzero(cells)
    between = np.concatenate([[SCORE_GRID[1] / 2], expit((_LOGITS[1:] + _LOGITS[:-1]) / 2), [(1 + SCORE_GRID[-1]) / 2]])
    learnt = _METHODS[method](between[seen], cells[seen], positives[seen])
    x = np.concatenate([[0], between[seen], [1]])
    y = np.concatenate([[0], learnt, learnt[-1:]])
    return Calibration(method, x, (1 - _ORDER) * y + _ORDER * x)


def _fit_temperature(
    scores: NDArray[np.float64], cells: NDArray[np.int64], positives: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Divide all logits by one number, that with the highest likelihood."""
    logits = logit(scores)

    def compute_loss(log_temperature: float) -> float:
        scaled = logits * np.exp(-log_temperature)
        return float((cells * np.logaddexp(0, scaled) - positives * scaled).sum())

    best = minimize_scalar(compute_loss, bounds=(-3, 3), method="bounded").x
    scaled: NDArray[np.float64] = expit(logits * np.exp(-best))
    return scaled


def _fit_isotonic(
    _: NDArray[np.float64], cells: NDArray[np.int64], positives: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the rising probabilities that are nearest to the shares of positives."""
    return _make_rising(positives / cells, cells)


def _fit_venn_abers(
    _: NDArray[np.float64], cells: NDArray[np.int64], positives: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Merge two isotonic fits for each score: with one more positive of that score, and with one more negative."""
    lower, upper = np.empty((2, len(cells)))
    for at in range(len(cells)):
        more = cells.copy()
        more[at] += 1
        lower[at] = _make_rising(positives / more, more)[at]
        share = positives / more
        share[at] = (positives[at] + 1) / more[at]
        upper[at] = _make_rising(share, more)[at]
    return np.maximum.accumulate(upper / (1 - lower + upper))


def _make_rising(shares: NDArray[np.float64], weights: NDArray[np.int64]) -> NDArray[np.float64]:
    rising: NDArray[np.float64] = isotonic_regression(shares, weights=weights).x
    return rising


_METHODS: dict[
    CalibrationMethod,
    Callable[[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]],
] = {"temperature": _fit_temperature, "isotonic": _fit_isotonic, "venn-abers": _fit_venn_abers}

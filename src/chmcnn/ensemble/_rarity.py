"""Rare classes, which the mean of several members ranks too low: how much higher their scores should be.

The odds of each score are divided by a power of the odds of the class's frequency, as logit adjustment does for classes
that exclude each other (Menon et al., 2021), and multiplied by one number for all classes that keeps the sum of the
scores that count in the choice. `python -m benchmarks.more` measures what it brings, and what richer models bring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from chmcnn.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn.ensemble._weights import Cells

_POWERS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
"""Powers to try, until one is no better than that before."""


def multiply_odds(scores: NDArray[np.float32], factors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return probabilities whose odds are multiplied by factors above 0; 0 and 1 stay what they are.

    >>> multiply_odds(np.array([0.0, 0.5, 0.5, 1.0]), np.array([3.0, 3.0, 1.0, 0.1]))
    array([0.  , 0.75, 0.5 , 1.  ])
    """
    raised = scores * factors
    return np.asarray(raised / (raised + (1 - scores)), dtype=scores.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Rarity:
    """The power of the frequencies, 0 if the mean stays as it is, and what the odds of each class are multiplied by."""

    power: float
    factors: NDArray[np.float32]  # (classes,)

    @classmethod
    def none(cls, classes: int) -> Rarity:
        """Return what leaves all scores as they are."""
        return cls(0.0, np.ones(classes, dtype=np.float32))

    @classmethod
    def choose(cls, cells: Cells, weights: Iterable[float], counts: NDArray[np.int64], rows: int) -> Rarity:
        """Return the power with the best AU(PRC) of the weighted mean; ``counts`` has the rows of each class."""
        mean, rare = cells.average(weights), _invert_odds(counts, rows)
        power, best = 0.0, cells.measure_scores(mean)
        for higher in _POWERS:
            measured = cells.measure_scores(multiply_odds(mean, rare[cells.classes] ** higher))
            if measured <= best:
                break
            power, best = higher, measured
        if not power:
            return cls.none(len(counts))
        factors = rare**power
        return cls(power, (factors * _balance(mean, factors[cells.classes])).astype(np.float32))

    @classmethod
    def read(cls, power: float, tensors: Mapping[str, Tensor], classes: int) -> Rarity:
        """Return what a model file has; files of earlier versions have none of it."""
        if not power:
            return cls.none(classes)
        factors = tensors["rarity"].numpy()
        if factors.dtype != np.float32 or factors.shape != (classes,) or not _are_usable(factors):
            raise ModelError(f"the rarity of the classes is not one number above 0 for each of {classes} classes")
        return cls(float(power), factors)

    def apply(self, scores: NDArray[np.float32], classes: NDArray[np.int32] | None = None) -> NDArray[np.float32]:
        """Return scores (..., classes), higher for rare classes and lower for frequent ones.

        ``classes`` has the class of each score, if not all of a row are there.
        """
        if not self.power:
            return scores
        return multiply_odds(scores, self.factors if classes is None else self.factors[classes])


def _are_usable(factors: NDArray[np.float32]) -> bool:
    """Return whether odds can be multiplied by factors, far from the limits of single precision; never of NaN."""
    return bool(((factors > 1e-9) & (factors < 1e9)).all())


def _invert_odds(counts: NDArray[np.int64], rows: int) -> NDArray[np.float32]:
    """Return the rows without each class for one with it: half a row at least has the class, and half a row has not."""
    bounded = np.clip(counts, 0.5, rows - 0.5)
    return ((rows - bounded) / bounded).astype(np.float32)


def _balance(scores: NDArray[np.float32], factors: NDArray[np.float32]) -> float:
    """Return the number that keeps the sum of the scores, if their odds are multiplied by it and by the factors."""
    total, logarithms = scores.sum(dtype=np.float64), np.log(factors)

    def exceed(logarithm: float) -> float:
        return float(multiply_odds(scores, np.exp(logarithms + np.float32(logarithm))).sum(dtype=np.float64) - total)

    return float(np.exp(brentq(exceed, -logarithms.max() - 1, 1 - logarithms.min(), xtol=1e-6)))

"""Thresholds that keep a risk low: how much went wrong on held-out rows at each threshold, and what that guarantees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from chmcnn import metrics
from chmcnn._wording import count
from chmcnn.errors import ChmcnnError
from chmcnn.estimator._calibration import SCORE_GRID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy

RiskOf = Literal["missed", "wrong", "deepest"]
"""A class that is missed, one that is wrong, or the deepest answer of a path that backs off: see `Limit`."""

_LOWEST_OF_WRONG = 1e-3
"""Lowest threshold at which wrong classes are counted: below, nearly all classes of nearly all rows would be."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of what may go wrong.

    Parameters
    ----------
    risk
        The highest mean over rows.
    of
        What goes wrong in a row: the share of its true classes that are ``"missed"``; the share of its answered classes
        that are ``"wrong"``; or whether the ``"deepest"`` class is wrong, if the answer is one path.
    confidence
        How sure it is that the mean of all future rows is within the limit, over the choice of the held-out rows. None
        limits the mean over held-out rows as well.
    """

    risk: float
    of: RiskOf = "missed"
    confidence: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RiskCurves:
    """What went wrong on held-out rows at each threshold of `SCORE_GRID`."""

    rows: int
    risks: dict[RiskOf, NDArray[np.float64]]

    def find_threshold(self, limit: Limit) -> float:
        """Return the threshold with the smallest or the deepest answers that keep the limit.

        Thresholds are tried from the safest on, up to the first that does not keep it: conformal risk control, or with
        a confidence, tests in a fixed sequence.

        >>> curves = RiskCurves(99, {"missed": SCORE_GRID / 2})
        >>> round(curves.find_threshold(Limit(0.1)), 2)
        0.18
        """
        risks = self.risks[limit.of]
        safest_first = slice(None) if limit.of == "missed" else slice(None, None, -1)
        kept = _keeps(risks[safest_first], self.rows, limit)
        number = len(kept) if kept.all() else int(kept.argmin())
        if not number:
            least = _find_least(float(risks[safest_first][0]), self.rows, limit.confidence)
            raise ChmcnnError(
                f"A risk of {limit.risk:g} cannot be reached: with {count(self.rows, 'held-out row')} the least is "
                f"{least:.2g}. Ask for that or more, or hold out more rows."
            )
        return float(SCORE_GRID[safest_first][number - 1])


def measure_risks(
    Y: LabelsLike,
    scores: ScoresLike,
    hierarchy: Hierarchy,
    evaluated: NDArray[np.bool_] | None = None,
    thresholds: NDArray[np.float64] = SCORE_GRID,
) -> RiskCurves:
    """Measure what goes wrong at each threshold, on coherent scores of rows that the model was not trained on.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> Y, scores = [[1, 1, 0], [1, 0, 1]], [[0.9, 0.2, 0.7], [0.8, 0.1, 0.6]]
    >>> measure_risks(Y, scores, tree, thresholds=np.array([0.5, 0.75])).risks
    {'missed': array([0.25, 0.5 ]), 'wrong': array([0.25, 0.  ]), 'deepest': array([0.5, 0. ])}
    """
    risks = metrics.answer_risks(Y, scores, thresholds, hierarchy, classes=evaluated, lowest_of_wrong=_LOWEST_OF_WRONG)
    return RiskCurves(np.shape(Y)[0], {"missed": risks.missed, "wrong": risks.wrong, "deepest": risks.deepest})


def _keeps(risks: NDArray[np.float64], rows: int, limit: Limit) -> NDArray[np.bool_]:
    """Whether each mean over held-out rows shows that future rows keep a limit."""
    if limit.confidence is None:
        return np.asarray((rows * risks + 1) / (rows + 1) <= limit.risk)
    return _compute_p_values(risks, rows, limit.risk) <= 1 - limit.confidence


def _find_least(risk: float, rows: int, confidence: float | None) -> float:
    """Return the lowest limit that a mean over held-out rows shows to be kept, rounded up."""
    if confidence is None:
        least = (rows * risk + 1) / (rows + 1)
    else:
        least = brentq(lambda at: float(_compute_p_values(np.array([risk]), rows, at)[0]) - 1 + confidence, risk, 1)
    digits = 1 - int(np.floor(np.log10(least)))
    return float(np.ceil(least * 10**digits) / 10**digits)


def _compute_p_values(risks: NDArray[np.float64], rows: int, limit: float) -> NDArray[np.float64]:
    """Return how probable means this low are, at most, if the true one is above the limit, by Hoeffding and Bentkus.

    >>> _compute_p_values(np.array([0.0, 0.05, 0.1]), 100, 0.1).round(4)
    array([0.    , 0.1565, 1.    ])
    """
    low = np.minimum(risks, limit)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 log 0 is 0
        divergence = np.where(low > 0, low * np.log(low / limit), 0) + (1 - low) * np.log((1 - low) / (1 - limit))
    bentkus = np.exp(1) * binom.cdf(np.ceil(rows * risks), rows, limit)
    return np.asarray(np.minimum(np.exp(-rows * divergence), bentkus))

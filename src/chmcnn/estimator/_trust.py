"""How probabilities and limits of risks hold on labelled rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import torch

from chmcnn import metrics
from chmcnn.errors import ChmcnnError
from chmcnn.estimator._answering import Answering
from chmcnn.estimator._risks import Limit, RiskOf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from scipy import sparse

    from chmcnn.estimator._predicting import Predictor
    from chmcnn.metrics import Reliability

_RISKS = (0.05, 0.1, 0.2)


@dataclass(frozen=True, slots=True)
class RiskCheck:
    """A risk that was asked for, and the one that was found, with the size of the answers."""

    of: RiskOf
    asked: float
    found: float
    classes: float  # mean number of answered classes that count


@dataclass(frozen=True, slots=True)
class Trust:
    """What can be relied on: probabilities by level, before and after the calibration, and limits of risks."""

    method: str | None  # of the calibration
    levels: dict[int, Reliability]
    before: dict[int, Reliability]  # empty without a calibration
    risks: list[RiskCheck]  # without those that the held-out rows cannot show

    @property
    def error(self) -> float:
        """The calibration error."""
        return _merge(self.levels).error

    @property
    def error_before(self) -> float:
        """The calibration error before the calibration, if there is one."""
        return _merge(self.before or self.levels).error

    def facts(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "calibration": self.method,
            "calibration error": self.error,
            "calibration error before": self.error_before,
            "levels": {level: found.error for level, found in self.levels.items()},
            "levels before": {level: found.error for level, found in self.before.items()},
            "risks": [asdict(risk) for risk in self.risks],
        }


def check_trust(
    model: Predictor, truth: sparse.csr_array, scores: Callable[[], Iterator[NDArray[np.float32]]]
) -> Trust:
    """Compare what a model says with labels; scores are blocks of its coherent probabilities."""
    calibration = model.calibration_

    def find_levels(blocks: Callable[[], Iterator[NDArray[np.float32]]]) -> dict[int, Reliability]:
        return metrics.by_level(metrics.reliability, truth, blocks, model.hierarchy_, classes=model.evaluated_)

    before = {}
    if calibration is not None:
        before = find_levels(lambda: (calibration.invert(torch.tensor(block)).numpy() for block in scores()))
    return Trust(
        method=None if calibration is None else calibration.method,
        levels=find_levels(scores),
        before=before,
        risks=_check_risks(model, truth, scores),
    )


def _check_risks(
    model: Predictor, truth: sparse.csr_array, scores: Callable[[], Iterator[NDArray[np.float32]]]
) -> list[RiskCheck]:
    kinds: tuple[RiskOf, ...] = get_args(RiskOf)
    answerings: dict[Limit, Answering] = {}
    for limit in (Limit(risk, of) for of in kinds for risk in _RISKS):
        try:
            thresholds = model.find_risk_thresholds(limit)
        except ChmcnnError:  # no held-out rows, or too few
            continue
        answerings[limit] = Answering(model.hierarchy_, thresholds, one_path=limit.of == "deepest")
    totals = {limit: np.zeros(2) for limit in answerings}
    start = 0
    for block in scores():
        true = truth[start : start + len(block)].toarray()
        start += len(block)
        for limit, answering in answerings.items():
            answered = answering.answer(block)
            totals[limit] += _lose(limit.of, true, answered, model.evaluated_), answered[:, model.evaluated_].sum()
    return [RiskCheck(limit.of, limit.risk, *(total / start).tolist()) for limit, total in totals.items()]


def _lose(of: RiskOf, true: NDArray[np.bool_], answered: NDArray[np.bool_], evaluated: NDArray[np.bool_]) -> float:
    """Return what goes wrong in all rows of a block together."""
    if of == "deepest":  # labels have all ancestors: the deepest class of a path is wrong if any is
        return float((answered & ~true).any(axis=1).sum())
    first, second = (true, answered) if of == "missed" else (answered, true)
    lost = (first & ~second)[:, evaluated].sum(axis=1) / np.maximum(first[:, evaluated].sum(axis=1), 1)
    return float(lost.sum())


def _merge(levels: dict[int, Reliability]) -> Reliability:
    return reduce(lambda first, second: first + second, levels.values())

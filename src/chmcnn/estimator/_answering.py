"""From scores to answers: classes at or above thresholds, or those of the best path of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np

from chmcnn.errors import ChmcnnError
from chmcnn.estimator._risks import Limit
from chmcnn.hierarchy import follow_best_path
from chmcnn.settings import BETWEEN_ZERO_AND_ONE, check, choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.estimator._predicting import Threshold
    from chmcnn.hierarchy import Hierarchy


class AnswerOptions(TypedDict, total=False):
    """What decides which classes are predicted: see `Predictor.predict_labels`."""

    threshold: Threshold | None
    risk: float | None
    risk_of: Literal["missed", "wrong"] | None
    back_off: bool
    confidence: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Answering:
    """Which classes are answered: all at or above their thresholds (classes,), or the best path down to there.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> scores = np.array([[0.9, 0.6, 0.7], [0.8, 0.1, 0.4]])
    >>> Answering(tree, np.full(3, 0.5)).answer(scores)
    array([[ True,  True,  True],
           [ True, False, False]])
    >>> Answering(tree, np.full(3, 0.5), one_path=True).answer(scores)
    array([[ True, False,  True],
           [ True, False, False]])
    """

    hierarchy: Hierarchy
    thresholds: NDArray[np.float64]
    one_path: bool = False

    def answer(self, scores: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Return the answered classes (rows, classes) with all ancestors, from coherent scores."""
        reached = scores >= self.thresholds
        if not self.one_path:
            return reached
        on_path = np.zeros_like(reached)
        for rows, classes in follow_best_path(self.hierarchy, scores):
            on_path[rows, classes] = True
        return self.hierarchy.close(on_path & reached)  # in a DAG, the path has one of the parents only


def read_limit(
    risk: float | None, risk_of: Literal["missed", "wrong"] | None, confidence: float | None, *, back_off: bool
) -> Limit | None:
    """Check arguments of a prediction, and return the limit that they ask for; None for none.

    >>> read_limit(0.1, None, None, back_off=True)
    Limit(risk=0.1, of='deepest', confidence=None)
    """
    if risk is None:
        given = {"risk_of": risk_of is not None, "back_off": back_off, "confidence": confidence is not None}
        for name in (name for name, is_given in given.items() if is_given):
            raise ChmcnnError(f"{name} was passed without a risk; pass risk= too, such as risk=0.1.")
        return None
    for name, value in (("risk", risk), ("confidence", 0.9 if confidence is None else confidence)):
        check(name, value, BETWEEN_ZERO_AND_ONE)
    check("risk_of", risk_of or "missed", choice("missed", "wrong"))
    if back_off and risk_of == "missed":
        raise ChmcnnError("back_off limits the risk of a wrong answer, not of missed classes; leave out risk_of.")
    return Limit(risk, "deepest" if back_off else risk_of or "missed", confidence)

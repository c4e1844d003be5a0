"""Systems and measures of a user, which worker processes import."""

from typing import Any

import numpy as np

from chmcnn.estimator import HierarchicalClassifier


class Frequencies(HierarchicalClassifier):
    """Every row has the scores of the class frequencies."""

    name = "my frequencies"

    def __init__(self, hierarchy: Any = None, *, power: float = 1.0, **options: Any) -> None:
        super().__init__(hierarchy, **options)
        self.power = power

    def _learn(self, train: Any, valid: Any) -> None:
        del valid
        self.shares_ = train.arrays()[1].mean(axis=0) ** self.power

    def uncorrected_proba(self, X: Any) -> Any:
        return np.tile(self.shares_, (len(X), 1))


class Failing(Frequencies):
    name = "failing"

    def uncorrected_proba(self, X: Any) -> Any:
        return self.nothing[len(X)]  # this is its error


class Plain:
    """A class that knows nothing of this package."""

    def __init__(self, constant: float = 0.5) -> None:
        self.constant = constant

    def fit(self, X: Any, Y: Any) -> None:
        del X
        self.classes = Y.shape[1]

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), self.classes), self.constant)


class Logistic(Plain):
    """Called like a system of the package."""


def mean_score(Y: Any, scores: Any) -> float:
    del Y
    return float(scores.mean())


def score_error(Y: Any, scores: Any, classes: Any) -> float:
    return float(np.abs(Y - scores)[:, classes].mean())


def broken(Y: Any, scores: Any) -> float:
    return float(scores[len(Y)].mean())


def undefined(Y: Any, scores: Any) -> float:
    del Y, scores
    return float("nan")

"""Thresholds that keep predictions coherent: one for each class, or one for all, tuned on validation rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chmcnn import metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.metrics import Points

_STEPS = 1000
"""One threshold for all classes is a multiple of 1 / _STEPS."""


def tune(
    Y: LabelsLike, scores: ScoresLike, hierarchy: Hierarchy, evaluated: NDArray[np.bool_] | None = None
) -> dict[str, NDArray[np.float64]]:
    """Return the thresholds (classes,) of each way to tune them, on coherent scores of validation rows.

    Scores are a matrix, or blocks of rows that can be read several times, as for measures.
    """
    counted = np.ones(len(hierarchy), dtype=np.bool_) if evaluated is None else evaluated
    single = tune_single_threshold(Y, scores, counted)
    return {
        "tune": tune_thresholds(Y, scores, hierarchy, counted),
        **{name: np.full(len(hierarchy), threshold) for name, threshold in single.items()},
    }


def tune_thresholds(
    Y: LabelsLike, scores: ScoresLike, hierarchy: Hierarchy, evaluated: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Return the threshold of each class with the best F1 on validation data, at or above those of its parents.

    If scores are coherent, predictions are too: a score that reaches the threshold of a child reaches that of its
    parents. A class without positive rows has the highest threshold of its parents, or 0.5 without parents. A class
    that is not evaluated has the lowest threshold of the evaluated classes below it.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("a", "b")])
    >>> Y = np.array([[1, 1], [1, 0], [0, 0]], dtype=bool)
    >>> tune_thresholds(Y, np.array([[0.9, 0.4], [0.8, 0.1], [0.3, 0.1]]), tree)
    array([0.55, 0.55])
    """
    thresholds = np.zeros(len(hierarchy))
    parents: list[list[int]] = [[] for _ in hierarchy.classes]
    for parent, child in hierarchy.edges.tolist():
        parents[child].append(parent)

    def find_minimum(column: int) -> float:
        return max((float(thresholds[parent]) for parent in parents[column]), default=0.0)

    top_down = np.argsort(hierarchy.depths, kind="stable").tolist()
    counts = [True] * len(hierarchy) if evaluated is None else evaluated.tolist()
    points = metrics.points_by_class(Y, scores, classes=evaluated)
    for column in top_down:
        minimum = find_minimum(column)
        thresholds[column] = _tune_one(points.get(column), minimum) if counts[column] else minimum
    if all(counts):
        return thresholds
    lowest = np.where(counts, thresholds, np.inf)  # of a class and those below it that count
    for column in reversed(top_down):
        if not counts[column]:
            thresholds[column] = lowest[column]
        lowest[parents[column]] = np.minimum(lowest[parents[column]], lowest[column])
    for column in top_down:  # a class that nothing below counts for has the score 0
        if np.isinf(thresholds[column]):
            thresholds[column] = find_minimum(column) or 0.5
    return thresholds


def tune_single_threshold(Y: LabelsLike, scores: ScoresLike, evaluated: NDArray[np.bool_]) -> dict[str, float]:
    """Return the threshold for all classes with the best hierarchical F, and the one with the best Fmax.

    Only evaluated classes are counted. Among equally good thresholds the middle one is returned.

    >>> Y, scores = np.array([[1, 1], [1, 0]], dtype=bool), np.array([[0.9, 0.6], [0.8, 0.2]])
    >>> tune_single_threshold(Y, scores, np.array([True, True]))
    {'hierarchical_f': 0.401, 'fmax': 0.401}
    """
    found = metrics.sweep(Y, scores, classes=evaluated, steps=_STEPS)
    total = np.maximum(found.precision + found.recall, 1e-300)
    return {
        "hierarchical_f": _find_best(2 * found.correct / np.maximum(found.predicted + found.labels, 1)),
        "fmax": _find_best(2 * found.precision * found.recall / total),
    }


def _find_best(f: NDArray[np.float64]) -> float:
    """Return the threshold of the highest F; 0.5 if nothing is ever correct."""
    best = np.flatnonzero(f >= f.max() - 1e-12)
    return float(best[len(best) // 2] + 1) / _STEPS if f.max() > 0 else 0.5


def _tune_one(points: Points | None, minimum: float) -> float:
    """Return the middle between the lowest predicted score and the next one, but at least ``minimum``."""
    reached = 0 if points is None else int((points.thresholds >= minimum).sum())
    if points is None or not reached:
        return minimum or 0.5
    f1 = 2 * points.true_positives / (points.predicted + points.true_positives[-1])
    best = int(f1[:reached].argmax())
    below = float(points.below[best]) if points.below[best] >= minimum else 0.0
    return max((float(points.thresholds[best]) + below) / 2, minimum)

"""Thresholds that keep predictions coherent: one for each class, or one for all, tuned on validation rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy

    Scores = NDArray[np.floating]
    Labels = NDArray[np.bool_]

_STEPS = 1000
"""One threshold for all classes is a multiple of 1 / _STEPS."""
_CELLS = 1 << 21
"""Cells that are counted at once."""


def tune(
    Y: Labels, scores: Scores, hierarchy: Hierarchy, evaluated: NDArray[np.bool_] | None = None
) -> dict[str, NDArray[np.float64]]:
    """Return the thresholds (classes,) of each way to tune them, on coherent scores of validation rows."""
    counted = np.ones(len(hierarchy), dtype=np.bool_) if evaluated is None else evaluated
    single = tune_single_threshold(Y, scores, counted)
    return {
        "tune": tune_thresholds(Y, scores, hierarchy, counted),
        **{name: np.full(len(hierarchy), threshold) for name, threshold in single.items()},
    }


def tune_thresholds(
    Y: Labels, scores: Scores, hierarchy: Hierarchy, evaluated: NDArray[np.bool_] | None = None
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
    for column in top_down:
        minimum = find_minimum(column)
        thresholds[column] = _tune_one(Y[:, column], scores[:, column], minimum) if counts[column] else minimum
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


def tune_single_threshold(Y: Labels, scores: Scores, evaluated: NDArray[np.bool_]) -> dict[str, float]:
    """Return the threshold for all classes with the best hierarchical F, and the one with the best Fmax.

    Only evaluated classes are counted. Among equally good thresholds the middle one is returned.

    >>> Y, scores = np.array([[1, 1], [1, 0]], dtype=bool), np.array([[0.9, 0.6], [0.8, 0.2]])
    >>> tune_single_threshold(Y, scores, np.array([True, True]))
    {'hierarchical_f': 0.401, 'fmax': 0.401}
    """
    shared, predicted, precision, recall = np.zeros((4, _STEPS - 1))
    rows_predicted = np.zeros(_STEPS - 1, dtype=np.int64)
    labels = rows_labelled = 0
    for truth, reached, correct in _count_reached(Y, scores, evaluated):
        shared += correct.sum(axis=0)
        predicted += reached.sum(axis=0)
        labels += int(truth.sum())
        precision += (correct / np.maximum(reached, 1)).sum(axis=0)
        rows_predicted += (reached > 0).sum(axis=0)
        recall += (correct / np.maximum(truth, 1)[:, None]).sum(axis=0)
        rows_labelled += int((truth > 0).sum())
    mean_precision, mean_recall = precision / np.maximum(rows_predicted, 1), recall / max(rows_labelled, 1)
    total = np.maximum(mean_precision + mean_recall, 1e-300)
    return {
        "hierarchical_f": _find_best(2 * shared / np.maximum(predicted + labels, 1)),
        "fmax": _find_best(2 * mean_precision * mean_recall / total),
    }


def _find_best(f: NDArray[np.float64]) -> float:
    """Return the threshold of the highest F; 0.5 if nothing is ever correct."""
    best = np.flatnonzero(f >= f.max() - 1e-12)
    return float(best[len(best) // 2] + 1) / _STEPS if f.max() > 0 else 0.5


def _count_reached(
    Y: Labels, scores: Scores, evaluated: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield for blocks of rows the number of labels, and of all and of correct classes at or above each threshold."""
    thresholds = np.arange(1, _STEPS) / _STEPS
    size = max(1, _CELLS // max(len(evaluated), _STEPS))
    for start in range(0, len(Y), size):
        truth = Y[start : start + size, evaluated]
        steps = np.searchsorted(thresholds, scores[start : start + size, evaluated], side="right")
        cells = steps + np.arange(len(truth))[:, None] * _STEPS
        counts = [np.bincount(marked, minlength=len(truth) * _STEPS) for marked in (cells.ravel(), cells[truth])]
        reached, correct = (count.reshape(-1, _STEPS)[:, :0:-1].cumsum(axis=1)[:, ::-1] for count in counts)
        yield truth.sum(axis=1), reached, correct


def _tune_one(labels: Labels, scores: Scores, minimum: float) -> float:
    """Return the middle between the lowest predicted score and the next one, but at least ``minimum``."""
    reached = scores >= minimum
    if not labels[reached].any():
        return minimum or 0.5
    order = np.argsort(-scores[reached], kind="stable")
    ranked, true_positives = scores[reached][order].astype(np.float64), np.cumsum(labels[reached][order])
    f1 = 2 * true_positives / (np.arange(1, len(ranked) + 1) + labels.sum())
    f1[:-1][ranked[1:] == ranked[:-1]] = -1  # equal scores are predicted together
    best = int(f1.argmax())
    below = ranked[best + 1] if best + 1 < len(ranked) else 0.0
    return max(float((ranked[best] + below) / 2), minimum)

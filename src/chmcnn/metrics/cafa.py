"""Fmax and Smin, the measures of the CAFA challenges of protein function prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from chmcnn.metrics._inputs import as_probabilities
from chmcnn.metrics._sweep import sweep_weighted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy


class Best(NamedTuple):
    """The best value over all thresholds, and the threshold that gives it."""

    value: float
    threshold: float


def fmax(
    Y: LabelsLike,
    scores: ScoresLike,
    *,
    classes: ArrayLike | None = None,
    steps: int = 100,
    information: ArrayLike | None = None,
    known: LabelsLike | None = None,
) -> Best:
    """Best F over the thresholds 0.01, 0.02, ..., 0.99, from precision and recall averaged over rows.

    At each threshold, precision is the mean over rows with a prediction, and recall the mean over rows with a label.

    Parameters
    ----------
    Y, scores
        True labels, and scores from 0 to 1 (rows, classes).
    classes, steps
        Classes to measure (mask or positions), and number of steps of the thresholds from 0 to 1.
    information
        Weight of each class in precision and recall: CAFA's weighted Fmax. `chmcnn.datasets.read_information` reads
        CAFA's file of information accretion; `information_content` computes it from training labels.
    known
        Labels that were known before (rows, classes), with all ancestors: CAFA's partial knowledge. They count neither
        as true nor as predicted, and a row without any other label does not count at all.

    Examples
    --------
    >>> fmax([[1, 1, 0], [1, 0, 1]], [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6]])
    Best(value=1.0, threshold=0.21)
    >>> fmax([[1, 1, 0], [1, 0, 1]], [[0.9, 0.1, 0.8], [0.7, 0.2, 0.6]], information=[0.0, 1.0, 3.0])
    Best(value=0.6666666666666666, threshold=0.01)
    >>> fmax([[1, 1, 0], [1, 0, 1]], [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6]], known=[[1, 1, 0], [1, 0, 0]])
    Best(value=1.0, threshold=0.21)
    """
    found = sweep_weighted(
        Y, scores, classes=classes, steps=steps, information=information, known=known, check=as_probabilities
    )
    if not found.rows:
        return Best(float("nan"), float("nan"))
    total = found.precision + found.recall
    f = np.divide(2 * found.precision * found.recall, total, out=np.zeros(len(total)), where=total > 0)
    best = int(f.argmax())
    return Best(float(f[best]), float(found.thresholds[best]))


def smin(
    Y: LabelsLike,
    scores: ScoresLike,
    information: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    steps: int = 100,
    known: LabelsLike | None = None,
) -> Best:
    """Smallest semantic distance over thresholds, from remaining uncertainty and misinformation.

    Parameters
    ----------
    Y, scores
        True labels, and scores from 0 to 1 (rows, classes).
    information
        Information content of each class, as `information_content` computes it from training labels.
    classes, steps
        Classes to measure (mask or positions), and number of steps of the thresholds from 0 to 1.
    known
        Labels that were known before, as in `fmax`.

    Examples
    --------
    >>> smin([[1, 1, 0], [1, 0, 1]], [[0.9, 0.8, 0.3], [0.7, 0.2, 0.6]], information=[0.0, 1.0, 1.0])
    Best(value=0.0, threshold=0.31)
    """
    found = sweep_weighted(
        Y, scores, classes=classes, steps=steps, information=information, known=known, check=as_probabilities
    )
    rows = max(found.rows, 1)
    distance = np.hypot((found.labels - found.correct) / rows, (found.predicted - found.correct) / rows)
    best = int(distance.argmin())
    return Best(float(distance[best]), float(found.thresholds[best]))


def information_content(Y: LabelsLike, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Information content of each class: minus the logarithm (base 2) of its share of the rows with all its parents.

    A class without a row counts as having one, so that its content is finite.

    >>> from chmcnn import Hierarchy
    >>> information_content([[1, 1], [1, 0], [1, 0], [1, 0]], Hierarchy.from_edges([("a", "b")]))
    array([0., 2.])
    """
    truth = sparse.csc_array(hierarchy.close(Y))
    rows = np.split(truth.indices, truth.indptr[1:-1])  # of each class
    parents: list[list[int]] = [[] for _ in hierarchy.classes]
    for parent, child in hierarchy.edges.tolist():
        parents[child].append(parent)
    positives = np.diff(truth.indptr)
    candidates = np.array([_count_shared([rows[at] for at in above]) if above else truth.shape[0] for above in parents])
    content: NDArray[np.float64] = -np.log2(np.maximum(positives, 1) / np.maximum(candidates, 1))
    return np.maximum(content, 0.0)


def _count_shared(rows: list[NDArray[np.integer]]) -> int:
    """Count the numbers that all of several sorted arrays have."""
    shared, *others = sorted(rows, key=len)  # the shortest is looked up in the others
    for other in others:
        place = np.minimum(np.searchsorted(other, shared), len(other) - 1)
        shared = shared[other[place] == shared]
    return len(shared)

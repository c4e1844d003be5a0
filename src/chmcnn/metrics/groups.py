"""How a measure differs between classes, and between levels of the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chmcnn._wording import wrong_shape
from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import columns, dense

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy

Result = TypeVar("Result")


def by_class(
    measure: Callable[..., Result],
    Y: LabelsLike,
    scores: ScoresLike,
    hierarchy: Hierarchy,
    *,
    classes: ArrayLike | None = None,
) -> dict[str, Result]:
    """Measure each class alone.

    Parameters
    ----------
    measure
        Any measure of this module; ``functools.partial(smin, information=...)`` sets its options. Of one class,
        `hierarchical` is the usual precision, recall and F1, `fmax` the best F1, and `cmap` its average precision.
        `exact_match` and `jaccard` are then 1 - `hamming`, for a row has one class to be right on; ``partial(jaccard,
        average="micro")`` compares the rows that have the class instead.
    Y, scores
        True labels, and scores, or predicted labels where the measure takes those (rows, classes).
    hierarchy
        Names the classes.
    classes
        Which classes are measured: a mask or positions. All by default.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> from chmcnn.metrics import auprc
    >>> by_class(auprc, [[1, 1], [1, 0]], [[0.9, 0.8], [0.9, 0.85]], Hierarchy.from_edges([("a", "b")]))
    {'a': 1.0, 'b': 0.5}
    """
    truth, given, counted = _ready(Y, scores, hierarchy, classes)
    truth, given = np.asfortranarray(truth), np.asfortranarray(given)  # columns are read one by one
    return {hierarchy.classes[at]: measure(truth, given, classes=[at]) for at in np.flatnonzero(counted).tolist()}


def by_level(
    measure: Callable[..., Result],
    Y: LabelsLike,
    scores: ScoresLike,
    hierarchy: Hierarchy,
    *,
    classes: ArrayLike | None = None,
) -> dict[int, Result]:
    """Measure the classes of each level alone; the level of a class is its longest path from a root.

    >>> from chmcnn import Hierarchy
    >>> from chmcnn.metrics import auprc
    >>> by_level(auprc, [[1, 1], [1, 0]], [[0.9, 0.8], [0.9, 0.85]], Hierarchy.from_edges([("a", "b")]))
    {0: 1.0, 1: 0.5}
    """
    truth, given, counted = _ready(Y, scores, hierarchy, classes)
    levels = sorted(set(hierarchy.depths[counted].tolist()))
    return {level: measure(truth, given, classes=counted & (hierarchy.depths == level)) for level in levels}


def _ready(
    Y: LabelsLike,
    scores: ScoresLike,
    hierarchy: Hierarchy,
    classes: ArrayLike | None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Both as arrays, made once for all parts, and a mask of the classes that count."""
    truth, given = dense(Y), dense(scores)
    if truth.ndim != 2 or truth.shape[1] != len(hierarchy):
        raise ScoreError(wrong_shape("Labels", truth.shape, len(hierarchy)))
    chosen = columns(classes, len(hierarchy))
    counted = np.zeros(len(hierarchy), dtype=np.bool_)
    counted[slice(None) if chosen is None else chosen] = True
    return truth, given, counted

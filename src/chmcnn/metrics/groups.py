"""A measure by class and by level of the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy import sparse

from chmcnn.metrics._inputs import as_matrix, is_matrix, is_sparse, require_rereadable, select_classes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.metrics._inputs import Matrix

Result = TypeVar("Result")


def by_class(
    measure: Callable[..., Result],
    Y: LabelsLike,
    scores: ScoresLike,
    hierarchy: Hierarchy,
    *,
    classes: ArrayLike | None = None,
) -> dict[str, Result]:
    """Measure each class separately.

    Parameters
    ----------
    measure
        Any measure of this module; ``functools.partial(smin, information=...)`` sets its options. For one class,
        `hierarchical` is the usual precision, recall and F1, `fmax` the best F1, and `cmap` its average precision.
        `exact_match` and `jaccard` are 1 - `hamming`, because a row has only one class; ``partial(jaccard,
        average="micro")`` compares the rows with the class instead.
    Y, scores
        True labels, and scores or predicted labels, as the measure expects (rows, classes). Blocks of scores are read
        again for each class: ``auprc(..., average=None)`` reads them only twice in all.
    hierarchy
        The hierarchy of the classes.
    classes
        Mask or positions of the classes to measure. All by default.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> from chmcnn.metrics import auprc
    >>> by_class(auprc, [[1, 1], [1, 0]], [[0.9, 0.8], [0.9, 0.85]], Hierarchy.from_edges([("a", "b")]))
    {'a': 1.0, 'b': 0.5}
    """
    truth, values, selected = _prepare(Y, scores, hierarchy, classes)
    truth = sparse.csc_array(truth) if is_sparse(truth) else np.asfortranarray(truth)
    if is_matrix(values):  # measures read one column at a time
        values = sparse.csc_array(values) if is_sparse(values) else np.asfortranarray(values)
    return {hierarchy.classes[at]: measure(truth, values, classes=[at]) for at in np.flatnonzero(selected).tolist()}


def by_level(
    measure: Callable[..., Result],
    Y: LabelsLike,
    scores: ScoresLike,
    hierarchy: Hierarchy,
    *,
    classes: ArrayLike | None = None,
) -> dict[int, Result]:
    """Measure each level separately; the level of a class is the length of its longest path from a root.

    >>> from chmcnn import Hierarchy
    >>> from chmcnn.metrics import auprc
    >>> by_level(auprc, [[1, 1], [1, 0]], [[0.9, 0.8], [0.9, 0.85]], Hierarchy.from_edges([("a", "b")]))
    {0: 1.0, 1: 0.5}
    """
    truth, values, selected = _prepare(Y, scores, hierarchy, classes)
    levels = sorted(set(hierarchy.depths[selected].tolist()))
    return {level: measure(truth, values, classes=selected & (hierarchy.depths == level)) for level in levels}


def _prepare(
    Y: LabelsLike,
    scores: ScoresLike,
    hierarchy: Hierarchy,
    classes: ArrayLike | None,
) -> tuple[Matrix, ScoresLike, NDArray[np.bool_]]:
    """Convert matrices once for all groups; return a mask of the selected classes as well."""
    require_rereadable(scores)
    truth = as_matrix(Y)
    return truth, as_matrix(scores) if is_matrix(scores) else scores, select_classes(truth, hierarchy, classes)

"""Violations of the hierarchy by scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chmcnn._wording import wrong_shape
from chmcnn.errors import ScoreError
from chmcnn.hierarchy import Hierarchy
from chmcnn.metrics._inputs import select_columns, to_dense

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chmcnn._typing import ScoresLike


class ViolationCount(NamedTuple):
    """Number of violated pairs of a row and an edge, share of rows with a violation, and share of violated pairs."""

    number: int
    rows: float
    pairs: float


def violations(scores: ScoresLike, hierarchy: Hierarchy, *, classes: ArrayLike | None = None) -> ViolationCount:
    """Count the edges, over all rows, where a child scores above its parent: 0 for a coherent model.

    `Hierarchy.violations` lists them.

    Parameters
    ----------
    scores
        Scores, or predicted labels (rows, classes).
    hierarchy
        The classes and their edges.
    classes
        Mask or positions of the classes whose edges from parents are counted. All by default.

    Examples
    --------
    >>> tree = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> scores = [[0.9, 0.1, 0.2], [0.2, 0.1, 0.9]]
    >>> violations(scores, tree)
    ViolationCount(number=1, rows=0.5, pairs=0.25)

    It takes no labels. `by_class`, `by_level` and `bootstrap` pass labels to every measure, so wrap it:

    >>> from chmcnn.metrics import by_class
    >>> counts = by_class(lambda Y, scores, classes: violations(scores, tree, classes=classes), scores, scores, tree)
    >>> {name: count.number for name, count in counts.items()}
    {'animal': 0, 'cat': 0, 'dog': 1}
    """
    matrix = to_dense(scores)
    if matrix.ndim != 2 or matrix.shape[1] != len(hierarchy):
        raise ScoreError(wrong_shape("Scores", matrix.shape, len(hierarchy)))
    chosen = select_columns(classes, len(hierarchy))
    if chosen is not None:
        selected = np.zeros(len(hierarchy), dtype=np.bool_)
        selected[chosen] = True
        edges = hierarchy.edges[selected[hierarchy.edges[:, 1]]]
        if not len(edges):
            return ViolationCount(0, 0.0, 0.0)
        positions, renumbered = np.unique(edges, return_inverse=True)
        hierarchy = Hierarchy([hierarchy.classes[at] for at in positions], renumbered.reshape(-1, 2))
        matrix = matrix[:, positions]
    violated = hierarchy.violations(matrix)
    rows, pairs = len(np.unique(violated.row)), len(matrix) * len(hierarchy.edges)
    return ViolationCount(len(violated), rows / max(len(matrix), 1), len(violated) / max(pairs, 1))

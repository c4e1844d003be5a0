"""How often scores contradict the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chmcnn._wording import wrong_shape
from chmcnn.errors import ScoreError
from chmcnn.hierarchy import Hierarchy
from chmcnn.metrics._inputs import columns, dense

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chmcnn._typing import ScoresLike


class ViolationCount(NamedTuple):
    """How many pairs of a row and an edge are violated, the share of rows with one, and the share of all pairs."""

    number: int
    rows: float
    pairs: float


def violations(scores: ScoresLike, hierarchy: Hierarchy, *, classes: ArrayLike | None = None) -> ViolationCount:
    """Count where a child scores above a parent, which tells how incoherent a model is.

    `Hierarchy.violations` says where they are.

    Parameters
    ----------
    scores
        Scores, or predicted labels (rows, classes).
    hierarchy
        The classes and their edges.
    classes
        Only edges down to these classes count: a mask or positions. All by default.

    Examples
    --------
    >>> tree = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> scores = [[0.9, 0.1, 0.2], [0.2, 0.1, 0.9]]
    >>> violations(scores, tree)
    ViolationCount(number=1, rows=0.5, pairs=0.25)

    It has no use for labels. For `by_class`, `by_level` and `bootstrap`, which give them to every measure:

    >>> from chmcnn.metrics import by_class
    >>> found = by_class(lambda Y, scores, classes: violations(scores, tree, classes=classes), scores, scores, tree)
    >>> {name: each.number for name, each in found.items()}
    {'animal': 0, 'cat': 0, 'dog': 1}
    """
    matrix = dense(scores)
    if matrix.ndim != 2 or matrix.shape[1] != len(hierarchy):
        raise ScoreError(wrong_shape("Scores", matrix.shape, len(hierarchy)))
    chosen = columns(classes, len(hierarchy))
    if chosen is not None:
        counted = np.zeros(len(hierarchy), dtype=np.bool_)
        counted[chosen] = True
        edges = hierarchy.edges[counted[hierarchy.edges[:, 1]]]
        if not len(edges):
            return ViolationCount(0, 0.0, 0.0)
        kept, inside = np.unique(edges, return_inverse=True)
        hierarchy = Hierarchy([hierarchy.classes[at] for at in kept], inside.reshape(-1, 2))
        matrix = matrix[:, kept]
    found = hierarchy.violations(matrix)
    rows, pairs = len(np.unique(found.row)), len(matrix) * len(hierarchy.edges)
    return ViolationCount(len(found), rows / max(len(matrix), 1), len(found) / max(pairs, 1))

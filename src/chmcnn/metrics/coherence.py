"""Violations of the hierarchy by scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chmcnn.metrics._inputs import as_comparable, select_columns
from chmcnn.metrics._pairs import ScoreBlocks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chmcnn._typing import ScoresLike
    from chmcnn.hierarchy import Hierarchy


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
    >>> from chmcnn import Hierarchy
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
    edges = hierarchy.edges
    chosen = select_columns(classes, len(hierarchy))
    if chosen is not None:
        edges = edges[np.isin(edges[:, 1], chosen)]
    columns, places = np.unique(edges, return_inverse=True)
    parents, children = places.reshape(-1, 2).T
    number = rows_violated = end = 0
    for rows, values in ScoreBlocks(scores, len(hierarchy), columns, as_comparable).iterate(len(edges)):
        violated = (values[:, children] > values[:, parents]).sum(axis=1)
        number, rows_violated, end = number + int(violated.sum()), rows_violated + int((violated > 0).sum()), rows.stop
    return ViolationCount(number, rows_violated / max(end, 1), number / max(end * len(edges), 1))

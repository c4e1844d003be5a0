"""Synthetic hierarchies and problems: made to measure, from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chmcnn.errors import ChmcnnError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS = 9
"""Positions of the smaller of the two rectangles: outside the bigger one at 1, in its centre at 9."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """An axis-parallel rectangle in the unit square."""

    left: float
    bottom: float
    width: float
    height: float

    def holds(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which of the (rows, 2) points are inside."""
        x, y = points[:, 0] - self.left, points[:, 1] - self.bottom
        return (x >= 0) & (x <= self.width) & (y >= 0) & (y <= self.height)


@dataclass(frozen=True, slots=True)
class TwoRectangles:
    """Points of the unit square; class A is the smaller rectangle, class B both together.

    ``X`` holds the points (rows, 2), ``Y`` the labels (rows, 2) in the order of ``hierarchy``.
    """

    hierarchy: Hierarchy
    smaller: Rectangle
    bigger: Rectangle
    X: NDArray[np.float64]
    Y: NDArray[np.bool_]


def two_rectangles(step: int, *, rows: int = 5000, seed: int = 0) -> TwoRectangles:
    """Draw the paper's first synthetic problem at one of its 9 steps.

    The paper gives no coordinates. These agree with what it says: the rectangles are disjoint at steps 1 to 3, overlap
    from step 4 on, the smaller one has 65 % of its area in the bigger one at step 6, and is in its centre at step 9.

    >>> problem = two_rectangles(1, rows=4)
    >>> problem.hierarchy.parents("A"), problem.X.shape, problem.Y.shape
    (('B',), (4, 2), (4, 2))
    """
    if not 1 <= step <= STEPS:
        raise ChmcnnError(f"Step {step} is not there; expected 1 to {STEPS}.")
    width = 0.3
    smaller = Rectangle(left=0.02 + 0.232 * width * (step - 1), bottom=0.25, width=width, height=0.5)
    bigger = Rectangle(left=0.473, bottom=0.075, width=1.69 * width, height=0.85)
    points = np.random.default_rng(seed).random((rows, 2))
    in_a = smaller.holds(points)
    hierarchy = Hierarchy.from_edges([("B", "A")])
    return TwoRectangles(hierarchy, smaller, bigger, points, np.stack((in_a, in_a | bigger.holds(points)), axis=1))


def random_hierarchy(classes: int, *, edges: int | None = None, depth: int, seed: int = 0) -> Hierarchy:
    """Draw a hierarchy with one root and exactly so many classes, edges and levels below the root.

    A tree has one edge less than classes; that is the default. Further edges come from classes anywhere above. The
    levels grow in size towards the middle and shrink again, as those of real ontologies do.

    >>> random_hierarchy(4126, edges=5827, depth=14)
    Hierarchy(4,126 classes, 5,827 edges, 1 root, depth 14)
    """
    edges = classes - 1 if edges is None else edges
    if not 1 <= depth < classes:
        raise ChmcnnError(f"Depth {depth} does not fit {classes} classes; expected 1 to {classes - 1}.")
    random = np.random.default_rng(seed)
    extra = random.binomial(depth - 1, 0.4, classes - 1 - depth) + 1
    level = np.concatenate(([0], np.sort(np.concatenate((np.arange(1, depth + 1), extra)))))
    first = np.searchsorted(level, np.arange(depth + 2))  # where each level starts
    child = np.arange(1, classes)
    above = level[child] - 1
    parent = random.integers(first[above], first[above + 1])
    pairs = np.stack((parent, child), axis=1)
    # `capacity` is the number of pairs of a class and a class above its level.
    capacity = int(first[level].sum())
    if not classes - 1 <= edges <= capacity:
        raise ChmcnnError(f"{edges} edges do not fit {classes} classes; expected {classes - 1} to {capacity}.")
    keys = pairs[:, 0] * classes + pairs[:, 1]
    while len(keys) < edges:
        child = random.integers(1, classes, size=edges - len(keys))
        keys = np.unique(np.concatenate((keys, random.integers(0, first[level[child]]) * classes + child)))
    digits = len(str(classes - 1))
    return Hierarchy([f"c{number:0{digits}}" for number in range(classes)], np.stack(np.divmod(keys, classes), axis=1))

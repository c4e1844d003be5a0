"""Synthetic hierarchies and problems, drawn from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.sparse import csr_array

from chmcnn.errors import ChmcnnError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.datasets.dataset import Dataset

STEPS = 9
"""Number of positions of the smaller rectangle: outside the bigger one at 1, in its centre at 9."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """An axis-parallel rectangle in the unit square."""

    left: float
    bottom: float
    width: float
    height: float

    def holds(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which of the (rows, 2) points are inside."""
        x, y = points[:, 0] - self.left, points[:, 1] - self.bottom
        return (x >= 0) & (x <= self.width) & (y >= 0) & (y <= self.height)


@dataclass(frozen=True, slots=True)
class Rectangles:
    """Points of the unit square, labelled by the rectangles around them.

    ``X`` holds the points (rows, 2), ``Y`` the labels (rows, classes) in the order of ``hierarchy``.
    """

    hierarchy: Hierarchy
    rectangles: tuple[Rectangle, ...]  # in the order of the classes
    X: NDArray[np.float64]
    Y: NDArray[np.bool_]

    @classmethod
    def draw(cls, hierarchy: Hierarchy, rectangles: tuple[Rectangle, ...], rows: int, seed: int) -> Self:
        """Draw points; a class has the points in its rectangle and in those of its descendants."""
        if rows < 1:
            raise ChmcnnError(f"rows is {rows}; expected 1 or more.")
        points = np.random.default_rng(seed).random((rows, 2))
        inside = np.stack([rectangle.holds(points) for rectangle in rectangles], axis=1)
        return cls(hierarchy, rectangles, points, hierarchy.close(inside))


def two_rectangles(step: int, *, rows: int = 5000, seed: int = 0) -> Rectangles:
    """Draw the paper's first synthetic problem at one of its 9 steps: A is the smaller rectangle, B both together.

    The paper gives no coordinates. These agree with its text: the rectangles are disjoint at steps 1 to 3 and overlap
    from step 4 on; 65 % of the smaller one is in the bigger one at step 6, and it is in its centre at step 9. It moves
    along the diagonal: among the paths in ``python -m benchmarks.rectangles``, that is nearest to the 85 % of A that
    the paper's network delegates at step 5.

    >>> problem = two_rectangles(1, rows=4)
    >>> problem.hierarchy.parents("A"), problem.X.shape, problem.Y.shape
    (('B',), (4, 2), (4, 2))
    """
    if not 1 <= step <= STEPS:
        raise ChmcnnError(f"step is {step}; expected 1 to {STEPS}.")
    start = 0.01 + 0.074 * (step - 1)
    smaller = Rectangle(left=start, bottom=start, width=0.211, height=0.211)
    bigger = Rectangle(left=0.421, bottom=0.421, width=0.573, height=0.573)
    return Rectangles.draw(Hierarchy.from_edges([("B", "A")]), (smaller, bigger), rows, seed)


def nine_rectangles(*, rows: int = 5000, seed: int = 0) -> Rectangles:
    """Draw the paper's second synthetic problem: A5 is an ancestor, and A3 a descendant, of every other class.

    The rectangles stand in three rows of three, A1 to A3 on top; big ones in the corners, a small one in the middle.

    >>> problem = nine_rectangles(rows=4)
    >>> problem.hierarchy.roots, problem.hierarchy.leaves, problem.Y.shape
    (('A5',), ('A3',), (4, 9))
    """
    spans = ((0.1, 0.3), (0.45, 0.1), (0.6, 0.3))  # start and length along either axis
    rectangles = tuple(
        Rectangle(left, bottom, width, height) for bottom, height in reversed(spans) for left, width in spans
    )
    between = [f"A{number}" for number in (1, 2, 4, 6, 7, 8, 9)]
    edges = [("A5", name) for name in between] + [(name, "A3") for name in between]
    return Rectangles.draw(Hierarchy.from_edges(edges), rectangles, rows, seed)


def random_hierarchy(classes: int, *, edges: int | None = None, depth: int, seed: int = 0) -> Hierarchy:
    """Draw a hierarchy with one root and the given numbers of classes, edges and levels below the root.

    The default is a tree. Further edges come from classes of any level above. The levels in the middle are the largest,
    as in real ontologies.

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
    if edges > capacity // 2:  # drawing with repetition would be slow
        child = np.repeat(np.arange(classes), first[level])
        parent = np.concatenate([np.arange(first[at]) for at in level])
        missing = np.setdiff1d(parent * classes + child, keys)
        keys = np.sort(np.concatenate((keys, random.choice(missing, edges - len(keys), replace=False))))
    while len(keys) < edges:
        child = random.integers(1, classes, size=edges - len(keys))
        keys = np.unique(np.concatenate((keys, random.integers(0, first[level[child]]) * classes + child)))
    digits = len(str(classes - 1))
    return Hierarchy([f"c{number:0{digits}}" for number in range(classes)], np.stack(np.divmod(keys, classes), axis=1))


def learnable(  # noqa: PLR0913 -- all by name, each with a default
    *,
    rows: int = 1000,
    features: int = 50,
    classes: int = 30,
    depth: int = 3,
    edges: int | None = None,
    labels: float = 1.5,
    imbalance: float = 1.0,
    noise: float = 1.0,
    seed: int = 0,
) -> Dataset:
    """Draw a data set that a model can learn: each class shifts its rows in a direction of its own.

    Parameters
    ----------
    rows, features
        Size of the table; 60 % of the rows are for training, 20 % for validation and 20 % for the test.
    classes, depth, edges
        Size of the hierarchy, as in `random_hierarchy`: a tree, or a DAG with more edges.
    labels
        Average number of most specific classes of a row, 1 or more.
    imbalance
        How much the frequencies of classes differ: the k-th class is drawn ``k ** -imbalance`` times as often as the
        first.
    noise
        Standard deviation of the noise; that of the features is 1.
    seed
        Seed of all draws.

    Examples
    --------
    >>> learnable(rows=100, features=5, classes=10, edges=12, depth=3)
    Dataset(learnable: 60 + 20 + 20 rows, 5 features, Hierarchy(10 classes, 12 edges, 1 root, depth 3))
    """
    from chmcnn.datasets.dataset import Dataset, Table, split

    checks = {"rows": (rows, 5), "features": (features, 1), "labels": (labels, 1), "imbalance": (imbalance, 0)}
    for name, (value, least) in {**checks, "noise": (noise, 0)}.items():
        if not value >= least:
            raise ChmcnnError(f"{name} is {value}; expected {least} or more.")
    hierarchy = random_hierarchy(classes, edges=edges, depth=depth, seed=seed)
    random = np.random.default_rng(seed)
    chances = np.arange(1, classes) ** -float(imbalance)  # of all but the root, which every row has
    order = random.permutation(np.arange(1, classes))
    labelled = np.repeat(np.arange(rows), 1 + random.poisson(labels - 1, rows))
    drawn = random.choice(order, size=len(labelled), p=chances / chances.sum())
    marks = csr_array((np.ones(len(labelled)), (labelled, drawn)), shape=(rows, classes))
    matrix = hierarchy.close(csr_array(marks > 0))
    signal = matrix.astype(np.float64) @ random.standard_normal((classes, features))
    signal = (signal - signal.mean(axis=0)) / np.maximum(signal.std(axis=0), 1e-9)
    table = Table(signal + noise * random.standard_normal(signal.shape), matrix, hierarchy, source="learnable")
    train, valid, test = split(table, 0.6, 0.2, 0.2, seed=seed)
    return Dataset("learnable", train, valid, test)

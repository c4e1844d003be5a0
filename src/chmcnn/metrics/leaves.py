"""Measures of one answer per row, the leaf with the highest score: how often it is right, and how far off it is."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import as_matrix, select_classes
from chmcnn.metrics._pairs import pair_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy

_ABOVE_ALL = -1
"""The place above all roots, where leaves without a common ancestor meet."""


def leaf_accuracy(
    Y: LabelsLike, scores: ScoresLike, hierarchy: Hierarchy, *, classes: ArrayLike | None = None
) -> float:
    """Share of rows whose leaf with the highest score is a true one.

    A leaf is a class without children. A row with several true leaves is right if the highest score is that of any of
    them; a row without a true leaf does not count. Of leaves with equal scores, the first one counts. NaN if no row has
    a true leaf.

    Parameters
    ----------
    Y, scores
        True labels and scores (rows, classes).
    hierarchy
        The classes.
    classes
        Mask or positions of the classes to measure: leaves outside are neither answers nor true.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> leaf_accuracy([[1, 1, 0], [1, 0, 1]], [[0.9, 0.6, 0.3], [0.9, 0.8, 0.1]], tree)
    0.5
    """
    answers = _find_answers(Y, scores, hierarchy, classes)
    return float(answers.correct.mean()) if len(answers.correct) else float("nan")


def mistake_severity(
    Y: LabelsLike,
    scores: ScoresLike,
    hierarchy: Hierarchy,
    *,
    classes: ArrayLike | None = None,
    rows: Literal["mistakes", "all"] = "mistakes",
) -> float:
    """Mean distance from the true leaf up to the lowest common ancestor with the leaf that has the highest score.

    The distance is the number of edges from the true leaf to the nearest class that is above both leaves, by the
    shortest way; two leaves without such a class meet one edge above a root. Of several true leaves, the nearest one
    counts.
    Rows, leaves and equal scores are treated as in `leaf_accuracy`. In a tree whose leaves all have the same depth this
    is the height of the lowest common ancestor, as in "Making Better Mistakes" (Bertinetto et al. 2020).

    Parameters
    ----------
    Y, scores
        True labels and scores (rows, classes).
    hierarchy
        The classes: a tree or a DAG.
    classes
        Mask or positions of the classes to measure; paths may lead through all classes.
    rows
        ``"mistakes"`` is the mean over wrong answers, and 0 if there is none. A system that makes fewer mistakes may
        keep the severe ones: look at `leaf_accuracy` too, or use ``"all"``, where a right answer has distance 0.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant/oak"])
    >>> tree.classes
    ('animal', 'animal/cat', 'animal/dog', 'plant', 'plant/oak')
    >>> truth = [[1, 1, 0, 0, 0]] * 3
    >>> scores = [[0.9, 0.8, 0.1, 0.1, 0.1], [0.9, 0.1, 0.8, 0.1, 0.1], [0.1, 0.1, 0.1, 0.9, 0.8]]
    >>> mistake_severity(truth, scores, tree)    # dog for cat: 1 edge; oak for cat: 2, above the root
    1.5
    >>> mistake_severity(truth, scores, tree, rows="all")
    1.0
    """
    if rows not in ("mistakes", "all"):
        raise ScoreError(f"rows is {rows!r}; expected 'mistakes' or 'all'.")
    answers = _find_answers(Y, scores, hierarchy, classes)
    if not len(answers.correct):
        return float("nan")
    wrong = np.flatnonzero(~answers.correct)
    distances = _Distances(hierarchy)
    true_leaves = np.split(answers.true_leaves, np.cumsum(answers.numbers)[:-1])
    total = sum(
        min(distances.measure(leaf, int(answers.chosen[row])) for leaf in true_leaves[row].tolist())
        for row in wrong.tolist()
    )
    return float(total / max(len(wrong) if rows == "mistakes" else len(answers.correct), 1))


class _Answers(NamedTuple):
    """The answers of the rows that have a true leaf."""

    chosen: NDArray[np.int64]  # position of the leaf with the highest score
    correct: NDArray[np.bool_]
    true_leaves: NDArray[np.int64]  # positions, row after row
    numbers: NDArray[np.int64]  # how many of them each row has


def _find_answers(Y: LabelsLike, scores: ScoresLike, hierarchy: Hierarchy, classes: ArrayLike | None) -> _Answers:
    Y = as_matrix(Y)
    selected = select_classes(Y, hierarchy, classes)
    selected[hierarchy.edges[:, 0]] = False
    leaves = np.flatnonzero(selected)
    if not len(leaves):
        raise ScoreError("None of the selected classes is a leaf: there is no answer to measure.")
    pairs = pair_scores(Y, scores, leaves)
    best, correct = np.zeros(len(pairs.sizes), dtype=np.int64), np.zeros(len(pairs.sizes), dtype=np.bool_)
    for rows, values in pairs.iterate():
        best[rows] = values.argmax(axis=1)
        row, column = pairs.locate(rows)
        correct[rows.start + row[column == best[rows][row]]] = True
    labelled = pairs.sizes > 0
    return _Answers(leaves[best[labelled]], correct[labelled], leaves[pairs.truth.indices], pairs.sizes[labelled])


class _Distances:
    """Distances from leaves up to their common ancestors; each is computed once."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._parents: dict[int, list[int]] = defaultdict(list)
        for parent, child in hierarchy.edges.tolist():
            self._parents[child].append(parent)
        self._parents |= {hierarchy.index(root): [_ABOVE_ALL] for root in hierarchy.roots}
        self._above: dict[int, dict[int, int]] = {}
        self._known: dict[tuple[int, int], int] = {}

    def measure(self, leaf: int, other: int) -> int:
        """Return the number of edges from a leaf to the nearest class above both."""
        if (leaf, other) not in self._known:
            ours, theirs = self._climb(leaf), self._climb(other)
            self._known[leaf, other] = min(distance for place, distance in ours.items() if place in theirs)
        return self._known[leaf, other]

    def _climb(self, leaf: int) -> dict[int, int]:
        """Return the shortest distance to each class above a leaf, itself included."""
        if leaf not in self._above:
            distances, level = {leaf: 0}, [leaf]
            while level:
                following = []
                for place in level:
                    for parent in self._parents.get(place, ()):
                        if parent not in distances:
                            distances[parent] = distances[place] + 1
                            following.append(parent)
                level = following
            self._above[leaf] = distances
        return self._above[leaf]

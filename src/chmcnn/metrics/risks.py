"""What can go wrong with answers at or above a threshold, at each of several thresholds, as a mean over rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chmcnn.hierarchy import follow_best_path
from chmcnn.metrics._inputs import as_probabilities, select_columns, take_columns
from chmcnn.metrics._pairs import Pairs, pair_scores
from chmcnn.metrics._sweep import Block

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy


class AnswerRisks(NamedTuple):
    """What goes wrong at each threshold: `missed_share`, `wrong_share` and `back_off_error`."""

    missed: NDArray[np.float64]
    wrong: NDArray[np.float64]
    deepest: NDArray[np.float64]


def answer_risks(
    Y: LabelsLike,
    scores: ScoresLike,
    thresholds: NDArray[np.float64],
    hierarchy: Hierarchy,
    *,
    classes: ArrayLike | None = None,
    lowest_of_wrong: float = 0.0,
) -> AnswerRisks:
    """Return all that can go wrong, in one pass over the scores.

    ``classes`` are those whose missed and wrong answers count; a path that backs off has all classes. Wrong answers are
    not counted below ``lowest_of_wrong``, where nearly all answers are: their share is 1 there.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> answer_risks([[1, 1, 0], [1, 0, 1]], [[0.9, 0.2, 0.7], [0.8, 0.1, 0.6]], np.array([0.5, 0.75]), tree)
    AnswerRisks(missed=array([0.25, 0.5 ]), wrong=array([0.25, 0.  ]), deepest=array([0.5, 0. ]))
    """
    pairs = pair_scores(Y, scores, check=as_probabilities)
    columns = select_columns(classes, pairs.truth.shape[1])
    selected = pairs if columns is None else pairs.restrict(columns)
    counted = thresholds >= lowest_of_wrong
    missed, wrong = _Missed(selected, thresholds), _Wrong(selected, thresholds[counted])
    deepest = _BackOff(pairs, thresholds, hierarchy)
    for rows, values in pairs.iterate(cells=len(thresholds)):
        deepest.add(rows, values)
        for part in (missed, wrong):
            part.add(rows, take_columns(values, columns))
    shares = np.ones(len(thresholds))
    shares[counted] = wrong.compute()
    return AnswerRisks(missed.compute(), shares, deepest.compute())


def missed_share(
    Y: LabelsLike, scores: ScoresLike, thresholds: NDArray[np.float64], *, classes: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Share of the classes of a row that score below each threshold, as a mean over rows; it rises with the threshold.

    A row without classes misses none. Thresholds are sorted.

    >>> missed_share([[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.2]], np.array([0.3, 0.5, 0.85]))
    array([0.  , 0.25, 0.75])
    """
    return _read(_Missed(pair_scores(Y, scores, classes, check=as_probabilities), thresholds))


def wrong_share(
    Y: LabelsLike, scores: ScoresLike, thresholds: NDArray[np.float64], *, classes: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Share of the answered classes of a row that are wrong, at each threshold, as a mean over rows.

    A row without an answer has no wrong class. The mean mostly falls with the threshold, but may rise. Thresholds are
    sorted.

    >>> wrong_share([[1, 0], [1, 0]], [[0.9, 0.4], [0.8, 0.2]], np.array([0.3, 0.5]))
    array([0.25, 0.  ])
    """
    return _read(_Wrong(pair_scores(Y, scores, classes, check=as_probabilities), thresholds))


def back_off_error(
    Y: LabelsLike, scores: ScoresLike, thresholds: NDArray[np.float64], hierarchy: Hierarchy
) -> NDArray[np.float64]:
    """Share of rows whose deepest answer is wrong, if the best path of each row ends at each threshold.

    A row without an answer is not wrong. Labels have all ancestors: an answer is wrong from the first wrong class of
    its path on, so the share never rises with the threshold. Thresholds are sorted.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> back_off_error([[1, 1, 0], [1, 0, 1]], [[0.9, 0.2, 0.7], [0.8, 0.1, 0.6]], np.array([0.5, 0.75]), tree)
    array([0.5, 0. ])
    """
    return _read(_BackOff(pair_scores(Y, scores, check=as_probabilities), thresholds, hierarchy))


def _read(part: _Missed | _Wrong | _BackOff) -> NDArray[np.float64]:
    for rows, values in part.pairs.iterate(cells=len(part.thresholds)):
        part.add(rows, values)
    return part.compute()


@dataclass(slots=True)
class _Missed:
    """`missed_share` of blocks that come one after the other."""

    pairs: Pairs
    thresholds: NDArray[np.float64]
    found: list[NDArray[np.floating]] = field(default_factory=list)  # scores of the labels

    def add(self, rows: slice, values: NDArray[np.floating]) -> None:
        self.found.append(values[self.pairs.locate(rows)])

    def compute(self) -> NDArray[np.float64]:
        sizes = self.pairs.sizes
        weights = np.repeat(1 / np.maximum(sizes, 1), sizes)
        reached = np.searchsorted(self.thresholds, np.concatenate(self.found), side="right")  # thresholds of each label
        missed = np.bincount(reached, weights, len(self.thresholds) + 1)[:-1]
        return missed.cumsum() / len(sizes)


@dataclass(slots=True)
class _Wrong:
    """`wrong_share` of blocks that come one after the other."""

    pairs: Pairs
    thresholds: NDArray[np.float64]
    total: NDArray[np.float64] = field(init=False)
    weights: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.total, self.weights = np.zeros(len(self.thresholds)), np.ones(self.pairs.truth.shape[1])

    def add(self, rows: slice, values: NDArray[np.floating]) -> None:
        answered, right = Block(values, *self.pairs.locate(rows), self.weights).sum_reached(self.thresholds)
        for row in (answered - right) / np.maximum(answered, 1):  # one by one: the order decides the last digit
            self.total += row

    def compute(self) -> NDArray[np.float64]:
        return self.total / self.pairs.truth.shape[0]


@dataclass(slots=True)
class _BackOff:
    """`back_off_error` of blocks that come one after the other."""

    pairs: Pairs
    thresholds: NDArray[np.float64]
    hierarchy: Hierarchy
    reached: list[NDArray[np.int64]] = field(default_factory=list)  # thresholds of the first wrong class of each row

    def add(self, rows: slice, values: NDArray[np.floating]) -> None:
        wrong = np.full(len(values), -1.0)  # score of the first wrong class of the path of each row
        truth = self.pairs.truth[rows].toarray()
        for some, step in follow_best_path(self.hierarchy, values):
            first = (wrong[some] < 0) & ~truth[some, step]
            wrong[some[first]] = values[some[first], step[first]]
        self.reached.append(np.searchsorted(self.thresholds, wrong, side="right"))

    def compute(self) -> NDArray[np.float64]:
        counts = np.bincount(np.concatenate(self.reached), minlength=len(self.thresholds) + 1)
        return counts[:0:-1].cumsum()[::-1] / self.pairs.truth.shape[0]

"""Weights of the members of an ensemble: those with the best AU(PRC) of the weighted mean on validation rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations, pairwise, permutations
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from chmcnn import metrics
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Shares = tuple[int, ...]

_STEPS, _FINE_STEPS = 5, 10
"""Weights are tried in steps of 1 / _STEPS; then 1 / _FINE_STEPS moves from one member to another."""
_LARGEST_GRID = 5
"""Most members for which all weights are tried; with more, the search begins with the best member alone."""
_CELLS_OF_CHOICE = 1 << 27
"""Most pairs of a row and a class that are looked at: those of a sample of rows, if there are more."""
_LEAST = 0.003
"""A pair counts if it is a label, or if a member gives it this score: others hardly change the AU(PRC)."""


def check_weights(weights: Sequence[float] | Mapping[str, float], names: Sequence[str]) -> NDArray[np.float64]:
    """Return weights of the user, in the order of the members or by name, as an array; refuse what are no shares.

    >>> check_weights({"trees": 0.8, "network": 0.2}, ["network", "trees"])
    array([0.2, 0.8])
    """
    if isinstance(weights, Mapping) and weights.keys() != {*names}:
        raise ChmcnnError(f"weights is {weights!r}; expected one number for each of {', '.join(map(repr, names))}.")
    values = np.asarray(
        [weights[name] for name in names] if isinstance(weights, Mapping) else weights, dtype=np.float64
    )
    if values.shape != (len(names),):
        raise ChmcnnError(f"weights is {weights!r}, but there are {len(names)} members; expected one number for each.")
    if not (values >= 0).all() or abs(values.sum() - 1) > 1e-6:
        raise ChmcnnError(f"weights is {weights!r}; expected numbers from 0 to 1 whose sum is 1.")
    return values


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Pairs of a validation row and a class: whether the row has the class, and what each member says."""

    truth: sparse.csr_array  # (1, cells)
    scores: NDArray[np.float32]  # (members, cells)
    classes: NDArray[np.int32]  # (cells,)
    measured: dict[Shares, float] = field(default_factory=dict)

    @classmethod
    def collect(
        cls, labels: sparse.csr_array, blocks: Iterable[NDArray[np.float32]], evaluated: NDArray[np.bool_], seed: int
    ) -> Cells:
        """Return the pairs that decide about weights, from blocks (members, rows, classes) of scores."""
        rows, classes = labels.shape
        sampled = np.zeros(rows, dtype=np.bool_)
        sampled[np.random.default_rng(seed).permutation(rows)[: max(1, _CELLS_OF_CHOICE // classes)]] = True
        parts, start, every_class = [], 0, np.arange(classes, dtype=np.int32)
        for block in blocks:
            chosen = np.flatnonzero(sampled[start : start + block.shape[1]])
            scores, truth = block[:, chosen], labels[start + chosen].toarray()
            counted = ((scores >= _LEAST).any(axis=0) | truth) & evaluated
            parts.append((truth[counted], scores[:, counted], np.broadcast_to(every_class, counted.shape)[counted]))
            start += block.shape[1]
        truths, scored, places = zip(*parts, strict=True)
        return cls(
            sparse.csr_array(np.concatenate(truths)[None]), np.concatenate(scored, axis=1), np.concatenate(places)
        )

    def average(self, weights: Iterable[float]) -> NDArray[np.float32]:
        """Return the weighted mean of the members (cells,)."""
        mean: NDArray[np.float32] = np.asarray(weights, dtype=np.float32) @ self.scores
        return np.minimum(mean, 1, out=mean)

    def measure(self, weights: Iterable[float]) -> float:
        """Return the AU(PRC) of the weighted mean of the members."""
        return self.measure_scores(self.average(weights))

    def measure_scores(self, scores: NDArray[np.float32]) -> float:
        """Return the AU(PRC) of scores (cells,)."""
        return metrics.auprc(self.truth, scores[None])

    def choose_weights(self) -> NDArray[np.float64]:
        """Return the weights with the best AU(PRC); of equally good ones those that are most equal.

        >>> truth = sparse.csr_array(np.array([[True, True, False, False]]))
        >>> scores = np.array([[0.9, 0.2, 0.1, 0.3], [0.2, 0.9, 0.3, 0.1], [0.1, 0.1, 0.9, 0.9]], dtype=np.float32)
        >>> Cells(truth, scores, np.arange(4, dtype=np.int32)).choose_weights()
        array([0.4, 0.4, 0.2])
        """
        members = len(self.scores)
        steps = _STEPS if members <= _LARGEST_GRID else 1
        factor = _FINE_STEPS // steps
        best = self._find_best(tuple(factor * share for share in shares) for shares in list_shares(members, steps))
        while (better := self._find_best([best, *_move_shares(best)])) != best:
            best = better
        return np.array(best) / _FINE_STEPS

    def _find_best(self, candidates: Iterable[Shares]) -> Shares:
        most_equal_first = sorted(candidates, key=lambda shares: sum(share**2 for share in shares))
        return max(most_equal_first, key=self._measure_shares)

    def _measure_shares(self, shares: Shares) -> float:
        if shares not in self.measured:
            self.measured[shares] = self.measure(np.array(shares) / sum(shares))
        return self.measured[shares]


def list_shares(members: int, total: int) -> Iterator[Shares]:
    """Yield all ways to share a number among the members.

    >>> list(list_shares(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    for bars in combinations(range(total + members - 1), members - 1):
        places = (-1, *bars, total + members - 1)
        yield tuple(right - left - 1 for left, right in pairwise(places))


def _move_shares(shares: Shares) -> Iterator[Shares]:
    """Yield what one share less of one member, and one more of another, makes of them."""
    for giver, taker in permutations(range(len(shares)), 2):
        if shares[giver]:
            moved = list(shares)
            moved[giver], moved[taker] = moved[giver] - 1, moved[taker] + 1
            yield tuple(moved)

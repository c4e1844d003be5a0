"""Scores of all rows, some at a time, and what is counted meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from chmcnn.errors import ScoreError
from chmcnn.evaluation._profiles import ClassProfiles, PairCounts, keep_most_frequent, pair_confusions

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from chmcnn._io.spool import Spool
    from chmcnn._typing import Features
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What is counted while scores are computed: predicted labels at or above the thresholds."""

    shared: NDArray[np.int64]  # (classes,) rows in which a class is true and predicted
    predicted: NDArray[np.int64]  # (classes,) rows in which it is predicted
    f: NDArray[np.float64]  # (rows,) F1 of the classes that count; -1 for a row without any
    delegations: PairCounts  # class and delegate, where they are not the same
    confusions: PairCounts  # missed class, and wrong class of the same row

    def list_delegations(self, hierarchy: Hierarchy) -> list[tuple[str, str, int]]:
        """Return the most frequent delegations."""
        classes, delegates, counts = self.delegations.pairs()
        names, most = hierarchy.classes, np.argsort(-counts, kind="stable")[:10].tolist()
        return [(names[classes[at]], names[delegates[at]], int(counts[at])) for at in most]

    def create_profiles(
        self, curves: NDArray[np.float64], rows: NDArray[np.int64], evaluated: NDArray[np.bool_]
    ) -> ClassProfiles:
        """Return how each class is predicted."""
        classes, delegates, counts = self.delegations.pairs()
        every = np.arange(len(self.predicted))
        own = self.predicted - np.bincount(classes, counts, len(every)).astype(np.int64)
        itself = np.flatnonzero((own > 0) & evaluated)
        return ClassProfiles(
            rows=rows,
            curves=curves,
            delegates=keep_most_frequent(
                np.concatenate((classes, itself)),
                np.concatenate((delegates, itself)),
                np.concatenate((counts, own[itself])),
            ),
            replaced_by=self.confusions.most_frequent(),
            replaces=self.confusions.most_frequent(reverse=True),
        )


def score_rows(model: HierarchicalClassifier, X: Features, truth: sparse.csr_array, scores: Spool) -> Tally:
    """Compute the scores of all rows, some at a time, and count what is predicted."""
    shared, guesses = np.zeros((2, len(model.hierarchy_)), dtype=np.int64)
    f, delegations, confusions = np.empty(truth.shape[0]), PairCounts(len(guesses)), PairCounts(len(guesses))
    for raw, block in model.iterate_scores(X):
        rows = slice(len(scores), len(scores) + len(block))
        scores.append(block)
        true, predicted = truth[rows].toarray(), block >= model.thresholds_
        if len(true) < len(block):
            raise ScoreError(f"X has more rows than Y, which has {truth.shape[0]:,}; expected the same.")
        both = true & predicted
        shared += both.sum(axis=0)
        guesses += predicted.sum(axis=0)
        sizes = (true[:, model.evaluated_].sum(axis=1), predicted[:, model.evaluated_].sum(axis=1))
        f[rows] = _compute_f(both[:, model.evaluated_].sum(axis=1), sum(sizes))
        delegations.add(*_find_delegations(model, raw, predicted))
        confusions.add(*pair_confusions(true, predicted, block, model.evaluated_))
    return Tally(shared, guesses, f, delegations, confusions)


def _compute_f(shared: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the F1 of rows; -1 for a row without any class, which has none."""
    return np.where(sizes == 0, -1.0, 2 * shared / np.maximum(sizes, 1))


def _find_delegations(
    model: HierarchicalClassifier, raw: NDArray[np.float32], predicted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return predicted classes and their delegates, where these are other classes."""
    delegates = model.delegates(torch.from_numpy(raw)).numpy()
    rows, columns = np.nonzero(predicted & model.evaluated_ & (delegates != np.arange(len(model.hierarchy_))))
    return columns, delegates[rows, columns]

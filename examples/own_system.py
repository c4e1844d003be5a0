"""A researcher's job: compare a system of one's own with C-HMCNN and a baseline, by two measures.

Run it with ``python examples/own_system.py``. On the command line, the same comparison is, in this folder,
``chmcnn compare digits --systems C-HMCNN,Logistic,own_system:NearestRows --metric auprc --metric
own_system:top_error``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from chmcnn import comparison
from chmcnn.estimator import HierarchicalClassifier
from chmcnn.report.comparison_terminal import print_comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn import Hierarchy
    from chmcnn.training import Rows


class NearestRows(HierarchicalClassifier):
    """Score a class by its share among the nearest training rows, near ones first."""

    def __init__(self, hierarchy: Hierarchy | None = None, *, neighbours: int = 10, **options: Any) -> None:
        super().__init__(hierarchy, **options)
        self.neighbours = neighbours

    def _learn(self, train: Rows, valid: Rows | None) -> None:
        """Keep all rows. Features are numbers by now, and labels a 0/1 matrix with all ancestors."""
        x, y = (train if valid is None else train.concatenate(valid)).arrays()
        self.index_ = NearestNeighbors(n_neighbors=self.neighbours).fit(x)
        self.labels_ = y.astype(np.float32)

    def uncorrected_proba(self, X: Any) -> Any:
        """Return a score from 0 to 1 for each row and class; the max-constraint is applied to it afterwards."""
        distances, rows = self.index_.kneighbors(self.preprocessor_.transform(X))
        weights = 1 / (1 + distances)  # (rows, neighbours)
        scores = np.einsum("rn,rnc->rc", weights, self.labels_[rows]) / weights.sum(axis=1, keepdims=True)
        return np.clip(scores, 0, 1).astype(np.float32)


def top_error(Y: NDArray[np.bool_], scores: NDArray[np.floating], hierarchy: Hierarchy) -> float:
    """Share of rows whose best leaf is wrong. Lower is better: the name ends in ``_error``."""
    leaves = [hierarchy.index(name) for name in hierarchy.leaves]
    best = scores[:, leaves].argmax(axis=1)
    return float(1 - Y[:, leaves][np.arange(len(Y)), best].mean())


def main(folder: Path) -> None:
    """Compare on handwritten digits; two processes run the systems."""
    plan = comparison.Plan(
        systems=(NearestRows, "C-HMCNN", "Logistic"),
        seeds=1,
        options={"NearestRows": {"neighbours": 5}, "C-HMCNN": {"epochs": 5}, "Logistic": {"epochs": 5}},
        metrics=("auprc", top_error),
    )
    print_comparison(comparison.compare([comparison.Source("digits")], plan, folder, comparison.Execution(jobs=2)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))  # a folder that keeps the results
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))

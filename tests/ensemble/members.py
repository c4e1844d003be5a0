"""A small data set, and members that are quick, wrong or fail."""

from typing import Any

import numpy as np

from chmcnn import CHMCNNClassifier
from chmcnn.baselines import ClusEns
from chmcnn.datasets.synthetic import learnable
from chmcnn.ensemble import CoherentEnsemble
from chmcnn.estimator import HierarchicalClassifier

DATA = learnable(rows=400, features=8, classes=15, depth=3, noise=0.3)
NETWORK = CHMCNNClassifier(epochs=3, widths=(16,))
TREES = ClusEns(n_estimators=3)
MEMBERS = [("network", NETWORK), ("trees", TREES)]


class Frequencies(HierarchicalClassifier):
    """A member of the user, which has no scores of validation rows."""

    def _learn(self, train: Any, valid: Any) -> None:
        rows = train if valid is None else train.concatenate(valid)
        self.frequencies_ = rows.y.mean(axis=0)

    def uncorrected_proba(self, X: Any) -> Any:
        return np.tile(self.frequencies_.astype(np.float32), (X.shape[0], 1))


class Contradicting(Frequencies):
    """A member that contradicts the hierarchy."""

    def predict_proba(self, X: Any) -> Any:
        return 1 - super().predict_proba(X)


class Failing(Frequencies):
    """A member that cannot be trained."""

    def _learn(self, train: Any, valid: Any) -> None:  # noqa: ARG002 -- as all systems
        raise ValueError("no more numbers")


def fitted(members: Any = MEMBERS, **options: Any) -> CoherentEnsemble:
    model = CoherentEnsemble(DATA.hierarchy, members=members, random_state=0, **options)
    return model.fit(DATA.train.X, DATA.train.Y)

"""Members that were tried beside those of the preset ``best``: see `benchmarks.more`."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingRegressor
from torch import Tensor, nn

from chmcnn import CHMCNNClassifier
from chmcnn._typing import Features, JSONValue
from chmcnn.baselines._refitted import Refitted
from chmcnn.nn import MLP
from chmcnn.training import Loss, Rows

COPIES = 4
COMPONENTS = 20


class Copies(MLP):
    """Copies of the default network that share all layers; each has scales of the features and of the last inputs."""

    def __init__(self, features: int, classes: int, **options: JSONValue) -> None:
        super().__init__(features, classes, **options)
        self.first = nn.Parameter(torch.randint(0, 2, (COPIES, 1, features)) * 2.0 - 1)
        self.last = nn.Parameter(torch.ones(COPIES, 1, next(self[-1].parameters()).shape[1]))

    def forward(self, x: Tensor) -> Tensor:
        """Return logits: of each copy in training (copies x rows, classes), else of the mean score (rows, classes)."""
        *hidden, output = self
        x = x * self.first
        for layer in hidden:
            x = layer(x)
        logits: Tensor = output(x * self.last)
        return logits.flatten(0, 1) if self.training else torch.logit(torch.sigmoid(logits).mean(dim=0), eps=1e-6)


class CopiedNetwork(CHMCNNClassifier):
    """The default with `Copies`, whose loss is the mean of all copies, as in TabM."""

    def _create_default_network(self, features: int, classes: int) -> nn.Module:
        return Copies(features, classes, **self._list_network_options())

    def _create_loss(self, labels: csr_array | None) -> Loss:
        loss = super()._create_loss(labels)
        return lambda logits, y: loss(logits, y.repeat(len(logits) // len(y), 1))


@dataclass(frozen=True, slots=True)
class Components:
    """A regressor for each principal component of the labels."""

    regressors: list[HistGradientBoostingRegressor]
    projection: PCA
    width: int = 1

    def score(self, x: Features) -> NDArray[np.float32]:
        """Return scores (rows, classes)."""
        predicted = np.stack([each.predict(x) for each in self.regressors], axis=1)
        scores: NDArray[np.float32] = np.clip(self.projection.inverse_transform(predicted), 0, 1).astype(np.float32)
        return scores

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return nothing: there are no model files."""
        return {}


class Boosting(Refitted[Components]):
    """Gradient boosting of the principal components of the labels; the correction is the maximum."""

    def _train(self, rows: Rows) -> Components:
        labels = rows.y.toarray().astype(np.float32)
        projection = PCA(min(COMPONENTS, *labels.shape), random_state=self.seed_)
        targets = projection.fit_transform(labels)
        options = {"max_iter": 60, "max_leaf_nodes": 15, "min_samples_leaf": 10, "early_stopping": False}
        regressor = HistGradientBoostingRegressor(**options, random_state=self.seed_)
        return Components([clone(regressor).fit(rows.features, column) for column in targets.T], projection)

    def _read(self, arrays: Mapping[str, NDArray[np.generic]], facts: Mapping[str, JSONValue]) -> Components:
        raise NotImplementedError

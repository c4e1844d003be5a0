"""The variants of the paper: network and training of C-HMCNN(h), with other losses and corrections."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import torch
from scipy.sparse import csr_array

from chmcnn.baselines._losses import BCE
from chmcnn.estimator import NeuralClassifier
from chmcnn.nn import MaxConstraint

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Loss


class _Plain(NeuralClassifier):
    """A network with one output per class, trained with plain cross-entropy."""

    has_sparse_network = True

    def _create_loss(self, labels: csr_array | None) -> Loss:
        return self._wrap(BCE(self.learned_.counted, self._weigh_classes(labels))).to(self.device_)

    def _wrap(self, loss: nn.Module) -> nn.Module:
        """Return the loss of this variant, built on plain cross-entropy."""
        return loss


class FPlus(_Plain):
    """f+: independent outputs; the correction lowers the score of a class to at most those of its parents.

    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=60, features=4, classes=6)
    >>> model = FPlus(data.hierarchy, epochs=2, random_state=0).fit(data.train.X, data.train.Y)
    >>> len(data.hierarchy.violations(model.predict_proba(data.test.X)))
    0
    """

    correction: ClassVar[Literal["max", "min"]] = "min"


class FPlusMax(_Plain):
    """f+ with the other correction: it raises the score of a class to at least those of its children."""


class HPlus(FPlus):
    """h+ of the paper's Table 3: the network h with plain cross-entropy, and the correction of f+."""


class GPlus(_Plain):
    """g+: the output of a class predicts rows that belong to none of its children; the correction is the maximum."""

    def _wrap(self, loss: nn.Module) -> nn.Module:
        return _WithoutChildren(loss, self._get_edges())

    def _get_edges(self) -> NDArray[np.int64]:
        """Return the edges to children that count."""
        edges = self.learned_.hierarchy.edges
        return edges[self.learned_.evaluated[edges[:, 1]]]

    def _count_frequencies(self, labels: csr_array) -> Tensor:
        parents, children = self._get_edges().T
        upward = csr_array((np.ones(len(parents), dtype=np.float32), (children, parents)), shape=2 * labels.shape[1:])
        return super()._count_frequencies(labels > labels.multiply(labels @ upward > 0))


class HMCM(_Plain):
    """h + MCM: the network with the constraint on top of it, trained with plain cross-entropy."""

    def _wrap(self, loss: nn.Module) -> nn.Module:
        return self._separate_uncounted(_Constrained(loss, self.learned_.hierarchy))


class _WithoutChildren(torch.nn.Module):
    """Loss that compares with the labels of the most specific classes only."""

    edges: Tensor

    def __init__(self, loss: nn.Module, edges: NDArray[np.int64]) -> None:
        super().__init__()
        self.loss = loss
        self.register_buffer("edges", torch.tensor(edges.T.copy()), persistent=False)

    def forward(self, logits: Tensor, y: Tensor) -> Tensor:
        parents, children = self.edges
        labels = y.to(logits.dtype)
        below = torch.zeros_like(labels).index_add_(-1, parents, labels[..., children])
        value: Tensor = self.loss(logits, labels * (below == 0))
        return value


class _Constrained(torch.nn.Module):
    """Loss of the constrained logits."""

    def __init__(self, loss: nn.Module, hierarchy: Hierarchy) -> None:
        super().__init__()
        self.loss, self.constraint = loss, MaxConstraint(hierarchy)

    def forward(self, logits: Tensor, y: Tensor) -> Tensor:
        value: Tensor = self.loss(self.constraint(logits), y)
        return value

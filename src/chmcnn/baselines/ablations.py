"""The paper's own variants: the same network and training as C-HMCNN(h), with other losses and corrections."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import torch

from chmcnn.baselines._losses import BCE
from chmcnn.estimator import NeuralClassifier
from chmcnn.nn import MaxConstraint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Loss


class _Plain(NeuralClassifier):
    """A network with one output for each class, trained on each class alone."""

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Probabilities, not coherent yet. Classes that do not count were not trained: they must not correct others."""
        counted = torch.tensor(self.evaluated_, device=outputs.device)
        return torch.sigmoid(outputs).where(counted, 0.0 if self.correction == "max" else 1.0)

    def _loss(self, labels: NDArray[np.bool_] | None) -> Loss:
        return self._given(BCE(self._mask(), self._class_weights(labels))).to(self.device_)

    def _given(self, loss: nn.Module) -> nn.Module:
        """The loss of this variant, over the plain one."""
        return loss


class FPlus(_Plain):
    """f+: independent outputs; afterwards a class scores at most as high as its parents.

    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=60, features=4, classes=6)
    >>> model = FPlus(data.hierarchy, epochs=2, random_state=0).fit(data.train.X, data.train.Y)
    >>> len(data.hierarchy.violations(model.predict_proba(data.test.X)))
    0
    """

    correction: ClassVar[Literal["max", "min"]] = "min"


class FPlusMax(_Plain):
    """f+ with the other correction: afterwards a class scores at least as high as its children."""


class HPlus(FPlus):
    """h+, as the paper's Table 3 has it: the network h with plain cross-entropy, corrected as f+ is."""


class GPlus(_Plain):
    """g+: the output of a class stands for what belongs to none of its children; afterwards the maximum is taken."""

    def _given(self, loss: nn.Module) -> nn.Module:
        edges = self.hierarchy_.edges
        return _WithoutChildren(loss, edges[self.evaluated_[edges[:, 1]]])


class HMCM(_Plain):
    """h + MCM: the constraint on top of the network, trained through it with plain cross-entropy."""

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Probabilities, not coherent yet; classes that do not count were trained through their ancestors."""
        return torch.sigmoid(outputs)

    def _given(self, loss: nn.Module) -> nn.Module:
        return _Constrained(loss, self.hierarchy_)


class _WithoutChildren(torch.nn.Module):
    """Compares with labels of the most specific classes alone."""

    edges: Tensor

    def __init__(self, loss: nn.Module, edges: NDArray[np.int64]) -> None:
        super().__init__()
        self.loss = loss
        self.register_buffer("edges", torch.tensor(edges.T.copy()), persistent=False)

    def forward(self, logits: Tensor, y: Tensor) -> Tensor:
        parents, children = self.edges
        labels = y.to(logits.dtype)
        below = torch.zeros_like(labels).index_add_(-1, parents, labels[..., children])
        compared: Tensor = self.loss(logits, labels * (below == 0))
        return compared


class _Constrained(torch.nn.Module):
    """Compares what the constraint makes of logits."""

    def __init__(self, loss: nn.Module, hierarchy: Hierarchy) -> None:
        super().__init__()
        self.loss, self.constraint = loss, MaxConstraint(hierarchy)

    def forward(self, logits: Tensor, y: Tensor) -> Tensor:
        compared: Tensor = self.loss(self.constraint(logits), y)
        return compared

"""Losses between MCLoss and plain cross-entropy, which `benchmarks.texts` compares on validation rows of text.

Under MCLoss, a class that delegates learns nothing from a row itself; under plain cross-entropy it learns from every
row, but the maximum that is predicted is not trained.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn
from torch.nn import functional

from chmcnn import CHMCNNClassifier
from chmcnn.nn import MaxConstraint
from chmcnn.training import Epoch, Loss


def mix(share: Callable[[float], float]) -> type[CHMCNNClassifier]:
    """Return C-HMCNN with a share of plain cross-entropy in its loss, by the part of the epochs that is over."""

    class Mixed(CHMCNNClassifier):
        def build_network(self) -> nn.Module:
            self._epochs = 0  # a training begins, or a refit
            return super().build_network()

        def _open_display(self) -> AbstractContextManager[Callable[[Epoch], object]]:
            return nullcontext(self._count)

        def _count(self, epoch: Epoch) -> None:
            self._epochs = epoch.number

        def _create_loss(self, labels: csr_array | None) -> Loss:
            constrained, epochs = super()._create_loss(labels), self._create_settings().epochs

            def compute(logits: Tensor, y: Tensor) -> Tensor:
                plain = share(self._epochs / epochs)
                total = torch.zeros(())
                if plain > 0:
                    total = plain * functional.binary_cross_entropy_with_logits(logits, y.to(logits.dtype))
                return total if plain == 1 else total + (1 - plain) * constrained(logits, y)

            return compute

    return Mixed


def begin_with_plain(part: float) -> type[CHMCNNClassifier]:
    """Return C-HMCNN that is trained with plain cross-entropy in the first part of the epochs."""
    return mix(lambda done: float(done < part))


def add_inner(weight: float) -> type[CHMCNNClassifier]:
    """Return C-HMCNN whose loss also has the plain cross-entropy of classes with children, with a weight."""

    class WithInner(CHMCNNClassifier):
        def _create_loss(self, labels: csr_array | None) -> Loss:
            constrained = super()._create_loss(labels)
            inner = torch.from_numpy(np.unique(self.learned_.hierarchy.edges[:, 0]))

            def compute(logits: Tensor, y: Tensor) -> Tensor:
                own, truth = logits[:, inner], y[:, inner].to(logits.dtype)
                plain = functional.binary_cross_entropy_with_logits(own, truth, reduction="sum")
                return constrained(logits, y) + weight * plain / logits.numel()

            return compute

    return WithInner


class DelegatesNegatives(CHMCNNClassifier):
    """C-HMCNN whose classes delegate only where their label is 0: each output learns from all rows with its class."""

    def _create_loss(self, _labels: csr_array | None) -> Loss:
        constraint = MaxConstraint(self.learned_.hierarchy, validate=False)

        def compute(logits: Tensor, y: Tensor) -> Tensor:
            judged = torch.where(y.bool(), logits, constraint(logits))
            return functional.binary_cross_entropy_with_logits(judged, y.to(logits.dtype))

        return compute


def count_delegated(weight: float) -> type[CHMCNNClassifier]:
    """Return C-HMCNN with a weight on classes that delegate: with 0, each output counts at most once in a row."""

    class Counted(CHMCNNClassifier):
        def _create_loss(self, _labels: csr_array | None) -> Loss:
            constraint = MaxConstraint(self.learned_.hierarchy, validate=False)

            def compute(logits: Tensor, y: Tensor) -> Tensor:
                truth, least = y.bool(), torch.finfo(logits.dtype).min
                judged = torch.where(truth, constraint(logits.masked_fill(~truth, least)), constraint(logits))
                weights = torch.where(judged == logits, 1.0, weight)
                return functional.binary_cross_entropy_with_logits(judged, y.to(logits.dtype), weights)

            return compute

    return Counted

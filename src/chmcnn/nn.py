"""Torch modules: `MaxConstraint` and `MCLoss` on top of any network, and the network of the paper.

They hold a hierarchy and no parameters: a network's ``state_dict`` is the same with and without them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from torch import Tensor, nn

from chmcnn.constraint import IndexedHierarchy, Reduction, check_options, max_constraint, mc_loss
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from chmcnn.hierarchy import Hierarchy

_ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


class MaxConstraint(nn.Module):
    """Make the output of any network coherent: see `chmcnn.constraint.max_constraint`.

    For probabilities, put the sigmoid before it: after it, a vectorised sigmoid may turn equal logits into values that
    differ in the last bit.

    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> network = nn.Sequential(nn.Linear(5, 2), nn.Sigmoid(), MaxConstraint(hierarchy))
    >>> probabilities = network(torch.randn(100, 5)).detach()
    >>> len(hierarchy.violations(probabilities))
    0
    """

    def __init__(self, hierarchy: Hierarchy, *, validate: bool = True) -> None:
        super().__init__()
        self.hierarchy = IndexedHierarchy(hierarchy)
        self.validate = validate

    def forward(self, scores: Tensor) -> Tensor:
        """Constrain probabilities or logits: (..., classes)."""
        return max_constraint(scores, self.hierarchy, validate=self.validate)


class MCLoss(nn.Module):
    """Loss on the logits of a network, before the constraint: see `chmcnn.constraint.mc_loss`.

    >>> from chmcnn import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> network = nn.Linear(5, 2)
    >>> loss = MCLoss(hierarchy)(network(torch.randn(2, 5)), torch.tensor([[1, 0], [1, 1]]))
    >>> loss.backward()
    """

    weight: Tensor | None
    mask: Tensor | None

    def __init__(
        self,
        hierarchy: Hierarchy,
        *,
        weight: ArrayLike | Tensor | None = None,
        mask: ArrayLike | Tensor | None = None,
        reduction: Reduction = "mean",
        close_labels: bool = False,
        validate: bool = True,
    ) -> None:
        super().__init__()
        self.hierarchy = IndexedHierarchy(hierarchy)
        self.register_buffer("weight", _to_tensor("weight", weight), persistent=False)
        self.register_buffer("mask", _to_tensor("mask", mask), persistent=False)
        check_options(self.hierarchy, self.weight, self.mask, reduction)
        if self.mask is not None and not self.mask.any():
            raise ChmcnnError("mask excludes all classes; expected at least one True.")
        if self.weight is not None and not (torch.isfinite(self.weight) & (self.weight >= 0)).all():
            raise ChmcnnError(f"weight is {self.weight.tolist()}; expected finite, non-negative numbers.")
        self.reduction = reduction
        self.close_labels = close_labels
        self.validate = validate

    def forward(self, logits: Tensor, y: Tensor) -> Tensor:
        """Compare logits with labels, both (..., classes)."""
        return mc_loss(
            logits,
            y,
            self.hierarchy,
            weight=self.weight,
            mask=self.mask,
            reduction=self.reduction,
            close_labels=self.close_labels,
            validate=self.validate,
        )


def _to_tensor(name: str, values: ArrayLike | Tensor | None) -> Tensor | None:
    if values is None or isinstance(values, Tensor):
        return None if values is None else values.detach().clone()
    try:
        return torch.tensor(np.asarray(values))
    except (TypeError, ValueError):
        raise ChmcnnError(f"{name} is {values!r}; expected one value per class, in column order.") from None


class MLP(nn.Sequential):
    """The default network h: fully connected layers with dropout after each hidden one; returns logits.

    >>> MLP(77, 500, widths=(1000, 1000))(torch.randn(4, 77)).shape
    torch.Size([4, 500])
    """

    def __init__(
        self,
        features: int,
        classes: int,
        *,
        widths: Sequence[int] = (1000, 1000),
        dropout: float = 0.7,
        activation: Literal["relu", "tanh"] = "relu",
    ) -> None:
        if activation not in _ACTIVATIONS:
            raise ChmcnnError(f"activation is {activation!r}; expected one of {', '.join(map(repr, _ACTIVATIONS))}.")
        if not all(isinstance(width, int | np.integer) and width > 0 for width in widths):
            raise ChmcnnError(f"widths is {widths!r}; expected positive integers, such as (500, 500).")
        if not (isinstance(dropout, int | float) and 0 <= dropout < 1):
            raise ChmcnnError(f"dropout is {dropout!r}; expected a number in [0, 1).")
        layers: list[nn.Module] = []
        for before, after in pairwise((features, *widths)):
            layers += [nn.Linear(before, after), _ACTIVATIONS[activation](), nn.Dropout(dropout)]
        super().__init__(*layers, nn.Linear((features, *widths)[-1], classes))

"""Torch modules: `MaxConstraint` and `MCLoss` on top of any network, and the network of the paper.

They hold a hierarchy and no parameters: a network's ``state_dict`` is the same with and without them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from chmcnn.constraint import IndexedHierarchy, Reduction, check_options, max_constraint, mc_loss, to_sparse_tensor
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike
    from torch.autograd.function import FunctionCtx

    from chmcnn.hierarchy import Hierarchy

__all__ = ["MLP", "FeatureScaling", "MCLoss", "MaxConstraint", "SparseMLP", "to_sparse_tensor"]

_ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}
# Chosen on validation rows of the problems of benchmarks/texts.py.
_FEATURE_DEVIATION = 0.1
"""Standard deviation of the first weights of each feature of a `SparseMLP`."""
_OUTPUT_SCALE = 0.3
"""Factor of the first weights of outputs that begin near the frequencies of the classes."""
_RAREST = 1e-4
"""Lowest frequency of a class that its outputs begin with."""
# Chosen by `python -m benchmarks.starts` on validation rows.
_LIMIT = 3.0
"""Limit of a standardised feature. Saved networks rely on it, as on the next one."""
_FACTOR_RATE = 6.0
"""How much faster than other weights the factor of a feature is learnt."""
_FEATURE_DROPOUT = 0.15
"""Share of the features that are omitted in training, relative to that of hidden units."""


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

    ``scale_features`` puts a `FeatureScaling` before the layers, with a smaller dropout. With many classes, most
    weights are in the last layer. ``output_rank`` makes it a product of two smaller ones:

    >>> [sum(weights.numel() for weights in MLP(77, 100_000, output_rank=rank).parameters()) for rank in (None, 64)]
    [101179000, 7643000]
    """

    def __init__(
        self,
        features: int,
        classes: int,
        *,
        widths: Sequence[int] = (1000, 1000),
        dropout: float = 0.7,
        activation: Literal["relu", "tanh"] = "relu",
        output_rank: int | None = None,
        scale_features: bool = False,
    ) -> None:
        if activation not in _ACTIVATIONS:
            raise ChmcnnError(f"activation is {activation!r}; expected one of {', '.join(map(repr, _ACTIVATIONS))}.")
        if not all(isinstance(width, int | np.integer) and width > 0 for width in widths):
            raise ChmcnnError(f"widths is {widths!r}; expected positive integers, such as (500, 500).")
        _check_dropout(dropout)
        layers: list[nn.Module] = [FeatureScaling(features, _FEATURE_DROPOUT * dropout)] if scale_features else []
        for before, after in pairwise((features, *widths)):
            layers += [nn.Linear(before, after), _ACTIVATIONS[activation](), nn.Dropout(dropout)]
        super().__init__(*layers, *_create_output((features, *widths)[-1], classes, output_rank))

    def start_from(self, frequencies: Tensor) -> None:
        """Begin with scores near the frequencies of the classes (classes,), from which the features deviate.

        >>> network = MLP(77, 2).eval()
        >>> network.start_from(torch.tensor([0.5, 0.01]))
        >>> torch.sigmoid(network(torch.zeros(1, 77))).round(decimals=1)
        tensor([[0.5000, 0.0000]], grad_fn=<RoundBackward1>)
        """
        _start_outputs(self[-1].parameters(), frequencies)


class FeatureScaling(nn.Module):
    """Limit standardised features smoothly, multiply each by a factor that is learnt, and in training omit some.

    The farther a value is from 0, the closer it comes to 3 or -3: no single cell decides a row. ``factors`` has a sixth
    of each factor, so that an optimizer such as Adam learns it six times as fast as other weights.

    >>> FeatureScaling(3).eval()(torch.tensor([[-0.1, 1.0, 100.0]]))
    tensor([[-0.0999,  0.9487,  2.9987]], grad_fn=<MulBackward0>)
    """

    def __init__(self, features: int, dropout: float = 0.0) -> None:
        super().__init__()
        _check_dropout(dropout)
        self.factors = nn.Parameter(torch.full((features,), 1 / _FACTOR_RATE))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return scaled features (..., features)."""
        most = torch.finfo(x.dtype).max ** 0.5  # beyond, squares are infinite
        x = x.clamp(-most, most)
        limited: Tensor = self.dropout(x / (1 + (x / _LIMIT).square()).sqrt())
        return limited * (self.factors * _FACTOR_RATE)


def _check_dropout(dropout: float) -> None:
    if not (isinstance(dropout, int | float) and 0 <= dropout < 1):
        raise ChmcnnError(f"dropout is {dropout!r}; expected a number in [0, 1).")


def _start_outputs(last: Iterable[Tensor], frequencies: Tensor) -> None:
    weight, bias = last
    with torch.no_grad():
        weight.mul_(_OUTPUT_SCALE)
        bias.copy_(torch.logit(frequencies, eps=_RAREST))


def _create_output(width: int, classes: int, rank: int | None) -> list[nn.Linear]:
    """Return the last layer: one, or two whose product has a lower rank."""
    if rank is None:
        return [nn.Linear(width, classes)]
    return [nn.Linear(width, rank, bias=False), nn.Linear(rank, classes)]


class SparseMLP(nn.Module):
    """The default network for sparse features, such as words: a step costs time and memory for non-zero features only.

    The first layer adds up the weights of the features that a row has. In training it omits features of each row at
    random, half as often as hidden units. Its gradient is sparse; `chmcnn.training.train` has an optimizer for it.

    >>> from scipy.sparse import csr_array
    >>> features = torch.tensor([[0.0, 0.5, 0.0], [1.0, 0.0, 0.0]])
    >>> network = SparseMLP(3, 10, widths=(4,)).eval()
    >>> torch.allclose(network(to_sparse_tensor(csr_array(features.numpy()))), network(features))
    True
    """

    accepts_sparse = True
    """Whether a network takes a sparse CSR tensor; networks without this attribute get dense batches."""

    def __init__(
        self,
        features: int,
        classes: int,
        *,
        widths: Sequence[int] = (512,),
        dropout: float = 0.5,
        output_rank: int | None = None,
    ) -> None:
        super().__init__()
        width = (*widths, output_rank or classes)[0]
        self.first = nn.Parameter(torch.empty(features, width).normal_(std=_FEATURE_DEVIATION))
        self.bias = nn.Parameter(torch.zeros(width))
        self.rest = nn.Sequential()
        if widths:
            rest = MLP(width, classes, widths=widths[1:], dropout=dropout, output_rank=output_rank)
            self.rest.extend([nn.ReLU(), nn.Dropout(dropout), *rest])
        elif output_rank:
            self.rest.append(nn.Linear(output_rank, classes))
        self.feature_dropout = dropout / 2

    def start_from(self, frequencies: Tensor) -> None:
        """Begin with scores near the frequencies of the classes: see `MLP.start_from`."""
        last = self.rest[-1].parameters() if len(self.rest) else (self.first, self.bias)
        _start_outputs(last, frequencies)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (rows, classes) of features (rows, features): a sparse CSR tensor, or a dense one."""
        if x.layout == torch.sparse_csr:
            parts = x.col_indices(), x.crow_indices(), self._drop(x.values())
            hidden = _SparseProduct.apply(self.first, *parts)  # type: ignore[no-untyped-call]
        else:
            hidden = self._drop(x) @ self.first
        logits: Tensor = self.rest(hidden + self.bias)
        return logits

    def _drop(self, values: Tensor) -> Tensor:
        return functional.dropout(values, self.feature_dropout, self.training)


class _SparseProduct(torch.autograd.Function):
    """Product of a CSR matrix (rows, features) with weights (features, width), whose gradient is sparse.

    The gradient of `torch.nn.functional.embedding_bag` has a row for each non-zero value, this one for each feature of
    the batch, so that the optimizer need not add up rows.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, weight: Tensor, columns: Tensor, offsets: Tensor, values: Tensor) -> Tensor:
        ctx.save_for_backward(columns, offsets, values, torch.tensor(weight.shape))
        return functional.embedding_bag(
            columns, weight, offsets, mode="sum", per_sample_weights=values.to(weight.dtype), include_last_offset=True
        )

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,), (columns, offsets, values, shape) = gradients, ctx.saved_tensors  # type: ignore[attr-defined]
        rows = torch.arange(len(offsets) - 1, device=columns.device).repeat_interleave(offsets.diff())
        features, positions = columns.unique(return_inverse=True)
        transposed = torch.sparse_coo_tensor(
            torch.stack([positions, rows]),
            values.to(gradient.dtype),
            (len(features), len(gradient)),
            check_invariants=False,
        )
        product = torch.sparse.mm(transposed, gradient)
        total = torch.sparse_coo_tensor(
            features[None], product, tuple(shape.tolist()), check_invariants=False, is_coalesced=True
        )
        return total, None, None, None

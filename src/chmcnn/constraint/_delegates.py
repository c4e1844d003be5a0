"""The computation that everything else builds on: the delegate of each class.

The delegate of a class is the class with the highest score among itself and its descendants or, with labels, among
those of them that have the same label. (Labels are closed under ancestors: below a class with label 0 all are 0.)
This is one maximum over integers, each of which packs, from its high bits to its low ones,

    the label (1 bit), the score in an order-preserving form (32 bits), the rank of the class (28 bits).

The rank of a class is higher than that of its descendants, so a class with a score as high as theirs is its own
delegate.

``python -m benchmarks.ways`` compares these ways on the Gene Ontology (4,126 classes, 5,827 edges, 38,578 pairs of
class and ancestor); docs/benchmarks.md has the result:

- over all pairs of class and ancestor: many more steps than there are edges;
- level by level over the edges, rows contiguous: torch is slow on this memory layout;
- the same, transposed: each edge is one copy of contiguous memory. On the CPU, `scatter_reduce_` has a fast path for
  this, for floating-point types only. The packed integers are therefore compared as float64: positive float64 numbers
  have the order of their bits. This is `find_delegates_by_level`, which is always available;
- a compiled loop over the edges, row by row, in the first-level cache: `_kernel.find_delegates`, if numba is installed;
  with the edges of a parent together or interleaved, on one thread or two.

On the CPU the loss needs no delegates: see `_loss_kernel`, and `_loss_by_level` without numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from chmcnn.constraint._keys import INFINITY, LABEL_SHIFT, RANK_MASK, SCORE_SHIFT

if TYPE_CHECKING:
    from types import ModuleType

    from chmcnn.constraint._indexed import IndexedHierarchy

_kernel: ModuleType | None
try:
    _kernel = import_module("chmcnn.constraint._kernel")
except ImportError:  # no numba, or one that does not fit the installed numpy
    _kernel = None

_COMPILED_DTYPES = (torch.float32, torch.float64)
"""Types that `_kernel.highest_scores` is compiled for."""


def is_compiled() -> bool:
    """Whether a compiled loop processes scores on the CPU."""
    return _kernel is not None


def find_delegates(
    scores: Tensor, labels: Tensor | None, hierarchy: IndexedHierarchy
) -> tuple[Tensor, Tensor | bool | None]:
    """Return the position of the delegate of each class, and whether scores and labels are valid.

    Where the second value is false or None, the caller checks them; positions are meaningful only for valid input.
    """
    bits = ordered_bits(scores.detach().reshape(-1, scores.shape[-1]))
    labels = None if labels is None else labels.reshape(bits.shape)
    if _kernel is None or bits.device.type != "cpu":
        return find_delegates_by_level(bits, labels, hierarchy).reshape(scores.shape), None
    is_checked = scores.dtype != torch.float64
    if labels is not None and labels.dtype not in {torch.bool, torch.float32}:  # others are not worth compiling for
        labels, is_checked = labels.bool(), False
    index, is_valid = _kernel.find_delegates(bits, labels, *hierarchy.tensors)
    return index.reshape(scores.shape), is_valid if is_checked else None


def find_delegates_by_level(bits: Tensor, labels: Tensor | None, hierarchy: IndexedHierarchy) -> Tensor:
    """`find_delegates` without numba, for any device: one scatter for each level of the hierarchy."""
    base = hierarchy.base_keys
    if labels is not None:
        base = torch.add(base, labels if labels.dtype == torch.bool else labels.bool(), alpha=1 << LABEL_SHIFT)
    keys = torch.add(base, signed_integers(bits), alpha=1 << SCORE_SHIFT)  # (rows, classes)
    keys = keys.t().contiguous()  # (classes, rows)
    comparable = _as_comparable(keys)
    for parents, children in hierarchy.levels(bits.shape[0]):
        comparable.scatter_reduce_(0, parents, comparable.index_select(0, children), "amax")
    ranks = keys.bitwise_and_(RANK_MASK).t().contiguous()
    return hierarchy.class_by_rank.expand(bits.shape[0], -1).gather(1, ranks)


def highest_scores(scores: Tensor, hierarchy: IndexedHierarchy) -> tuple[Tensor, bool] | None:
    """Return the highest score among each class and its descendants, without gradient, and whether no score is NaN.

    None where the compiled loop is not available: without numba, in half precision, on an accelerator, while a model is
    traced, and for a placeholder of a tensor, as inside torch.func.vmap.
    """
    if _kernel is None or scores.device.type != "cpu" or scores.dtype not in _COMPILED_DTYPES or is_tracing():
        return None
    rows = scores.reshape(-1, scores.shape[-1]).contiguous()
    try:
        values, is_valid = _kernel.highest_scores(
            rows, hierarchy.arrays["edge_parents"], hierarchy.arrays["edge_children"]
        )
    except RuntimeError:  # the tensor has no memory of its own
        return None
    return values.reshape(scores.shape), is_valid


def highest_scores_by_level(scores: Tensor, hierarchy: IndexedHierarchy) -> Tensor:
    """Return the highest score among each class and its descendants, with operators that ONNX has."""
    values = scores.reshape(-1, scores.shape[-1]).t()
    for parents, children in hierarchy.levels(values.shape[1]):
        values = values.scatter_reduce(0, parents, values.index_select(0, children), "amax")
    return values.t().reshape(scores.shape)


def ordered_bits(scores: Tensor) -> Tensor:
    """Return 32-bit integers, sign and magnitude, in the order of the scores."""
    if scores.dtype != torch.float64:
        return scores.float().view(torch.int32)
    values, order = scores.sort(dim=-1)  # 64 bits of score do not fit into a key: their rank in the row does
    steps = torch.zeros_like(order, dtype=torch.int32)
    steps[:, 1:] = (values[:, 1:] != values[:, :-1]).cumsum(dim=-1, dtype=torch.int32)
    return torch.empty_like(steps).scatter_(-1, order, steps)


def signed_integers(bits: Tensor) -> Tensor:
    """Turn sign and magnitude into signed integers in the order of the scores; NaN of either sign is the highest."""
    sign = bits >> 31
    numbers = (bits & 0x7FFFFFFF).bitwise_xor_(sign).sub_(sign)
    return numbers.masked_fill_(numbers < -INFINITY, 0x7FFFFFFF)


def _as_comparable(keys: Tensor) -> Tensor:
    """View the keys as a type with a fast maximum: on the CPU, torch has a fast scatter for floating point only."""
    return keys.view(torch.float64) if keys.device.type == "cpu" else keys


def is_tracing() -> bool:
    """Whether a model is traced: what is not an operator of torch would become a constant."""
    return bool(torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]

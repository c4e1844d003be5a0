"""A hierarchy as tensors, and the one computation everything else rests on: which class decides each class.

A class is decided by the class with the highest score among itself and its descendants or, where labels are given,
among those of them that carry its own label. (Labels are closed under ancestors: below a class with label 0 all are 0.)
That is one maximum over integers, each of which packs, from its high bits to its low ones,

    the label (1 bit), the score in an order-preserving form (32 bits), the rank of the class (28 bits).

The rank of a class is higher than that of its descendants, so that a class decides itself wherever it may.

What was tried, on the Gene Ontology (4,126 classes, 5,827 edges, 38,578 pairs of class and ancestor), is measured by
``python -m benchmarks.ways``, with the result in benchmarks/README.md:

- over all pairs of class and ancestor: many more steps than there are edges;
- level by level over the edges, rows contiguous: torch walks such memory slowly;
- the same, transposed: each edge is one copy of contiguous memory. On the CPU, `scatter_reduce_` has a fast path for
  this, for floating-point types only. The packed integers are therefore compared as float64: positive float64 numbers
  are ordered as their bits are. `decide_by_level`, which is always there;
- a compiled loop over the edges, row by row, in the first-level cache: `_kernel.decide`, when numba is installed; with
  the edges of a parent together or taking turns, on one thread or two.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from chmcnn import _wording
from chmcnn.constraint._keys import INFINITY, LABEL_SHIFT, OFFSET, RANK_MASK, SCORE_SHIFT
from chmcnn.errors import HierarchyError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray


try:
    from chmcnn.constraint import _kernel
except ImportError:  # without numba, or with one that does not fit the installed numpy
    _kernel = None  # type: ignore[assignment]


def is_compiled() -> bool:
    """Whether the loop over the edges is compiled, where scores are on the CPU."""
    return _kernel is not None


class Plan(torch.nn.Module):
    """The edges of a hierarchy in the order in which they are worked on, on a device.

    The tensors are no buffers, because buffers are averaged, broadcast and left uninitialised by what treats them as
    part of a network's state, and the compiled loop trusts these positions. They follow a module to its device all the
    same, anew from the arrays.
    """

    base: Tensor  # (classes,) the part of a key that does not depend on scores
    by_rank: Tensor  # (classes,) which class has a rank
    edge_parents: Tensor  # (edges,) level by level, the deepest first
    edge_children: Tensor  # (edges,)

    def __init__(self, hierarchy: Hierarchy, device: torch.device | None = None) -> None:
        super().__init__()
        if not isinstance(hierarchy, Hierarchy):
            kind = type(hierarchy).__name__
            raise HierarchyError(
                f"The hierarchy is of type {kind}; expected a chmcnn.Hierarchy: see Hierarchy.from_edges."
            )
        size = len(hierarchy)
        if size > RANK_MASK:
            raise HierarchyError(f"{_wording.count(size, 'class')} are too many; expected at most {RANK_MASK:,}.")
        edges, level_sizes = hierarchy.bottom_up()
        edges = edges[_taking_turns(edges[:, 0], level_sizes)]
        by_rank = np.lexsort((np.arange(size), hierarchy.depths))[::-1].copy()
        base = np.empty(size, dtype=np.int64)
        base[by_rank] = np.arange(size) + OFFSET
        self.classes = hierarchy.classes
        self.level_sizes: list[int] = level_sizes.tolist()
        self.arrays = {
            "base": base,
            "by_rank": by_rank,
            "edge_parents": edges[:, 0].copy(),
            "edge_children": edges[:, 1].copy(),
        }
        self._put(device or torch.device("cpu"))

    def _put(self, device: torch.device) -> None:
        for name, array in self.arrays.items():
            setattr(self, name, torch.from_numpy(array).to(device))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002
        self._put(fn(torch.empty(0, device=self.base.device)).device)
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def levels(self, rows: int) -> Iterator[tuple[Tensor, Tensor]]:
        """For each level its parents, as an index into a (classes, rows) tensor, and its children."""
        start = 0
        for size in self.level_sizes:
            level = slice(start, start := start + size)
            yield self.edge_parents[level, None].expand(-1, rows), self.edge_children[level]


def _taking_turns(parents: NDArray[np.int64], level_sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order each level so that every parent has its first edge before any has its second, and so on.

    So the processor need not wait, in the compiled loop, for what it has just written.
    """
    new = np.concatenate(([True], parents[1:] != parents[:-1])) if len(parents) else np.empty(0, dtype=np.bool_)
    turn = np.arange(len(parents)) - np.flatnonzero(new)[np.cumsum(new) - 1]
    return np.lexsort((turn, np.repeat(np.arange(len(level_sizes)), level_sizes)))


_COMPILED = (torch.float32, torch.float64)
"""Types that `highest` is compiled for."""
_plans: WeakKeyDictionary[Hierarchy, dict[torch.device, Plan]] = WeakKeyDictionary()


@torch.compiler.disable  # type: ignore[untyped-decorator]
def plan_of(hierarchy: Hierarchy, device: torch.device) -> Plan:
    """The plan of a hierarchy on a device, made once."""
    if not isinstance(hierarchy, Hierarchy):
        return Plan(hierarchy)  # which says why not
    on_device = _plans.setdefault(hierarchy, {})
    if device not in on_device:
        with torch.inference_mode(mode=False) if torch.is_inference_mode_enabled() else nullcontext():
            plan = Plan(hierarchy, device)  # is kept, and used where gradients are as well
        if type(plan.base) is not Tensor:  # while a model is exported: a stand-in without values
            return plan
        on_device[device] = plan
    return on_device[device]


def decide(scores: Tensor, labels: Tensor | None, plan: Plan) -> tuple[Tensor, Tensor | None]:
    """Position of the class that decides each class, and whether scores and labels are known to be valid.

    Where that is false or None, they have to be looked at; the positions mean something only if they are valid.
    """
    bits = _ordered_bits(scores.detach().reshape(-1, scores.shape[-1]))
    labels = None if labels is None else labels.reshape(bits.shape)
    if _kernel is None or bits.device.type != "cpu":
        return decide_by_level(bits, labels, plan).reshape(scores.shape), None
    known = scores.dtype != torch.float64
    if labels is not None and labels.dtype not in {torch.bool, torch.float32}:  # others are not worth compiling for
        labels, known = labels.bool(), False
    index, clean = _kernel.decide(bits, labels, plan.base, plan.by_rank, plan.edge_parents, plan.edge_children)
    return index.reshape(scores.shape), clean if known else None


def highest(scores: Tensor, plan: Plan) -> tuple[Tensor, bool] | None:
    """The highest score among each class and its descendants, and whether no score is NaN; without any gradient.

    None where there is no quick way: without the compiled loop, in half precision, on an accelerator, while a model is
    traced, and for what only stands for a tensor, as inside torch.func.vmap.
    """
    if (
        _kernel is None or scores.device.type != "cpu" or scores.dtype not in _COMPILED or torch.jit.is_tracing()  # type: ignore[attr-defined,no-untyped-call]
    ):
        return None
    rows = scores.reshape(-1, scores.shape[-1]).contiguous()
    try:
        values, clean = _kernel.highest(rows, plan.arrays["edge_parents"], plan.arrays["edge_children"])
    except RuntimeError:  # it has no memory of its own
        return None
    return values.reshape(scores.shape), clean


def decide_by_level(bits: Tensor, labels: Tensor | None, plan: Plan) -> Tensor:
    """`decide` in torch alone, for any device: one scatter for each level of the hierarchy."""
    keys = ordered(bits).t().to(torch.int64, memory_format=torch.contiguous_format)  # (classes, rows)
    keys = keys.mul_(1 << SCORE_SHIFT).add_(plan.base[:, None])
    if labels is not None:
        keys = torch.add(keys, labels.t().bool(), alpha=1 << LABEL_SHIFT)
    comparable = _comparable(keys)
    for parents, children in plan.levels(bits.shape[0]):
        comparable.scatter_reduce_(0, parents, comparable.index_select(0, children), "amax")
    ranks = keys.bitwise_and_(RANK_MASK).t().contiguous()
    return plan.by_rank.expand(bits.shape[0], -1).gather(1, ranks)


def ordered(bits: Tensor) -> Tensor:
    """Sign and magnitude as one signed integer: in the order of the scores, with NaN of either sign the highest."""
    sign = bits >> 31
    numbers = ((bits & 0x7FFFFFFF) ^ sign) - sign
    return numbers.masked_fill_(numbers < -INFINITY, 0x7FFFFFFF)


def _comparable(keys: Tensor) -> Tensor:
    """The same memory in a type whose maximum is fast: on the CPU, torch has a fast scatter for floating point only."""
    return keys.view(torch.float64) if keys.device.type == "cpu" else keys


def max_by_level(scores: Tensor, plan: Plan) -> Tensor:
    """Maximum over the descendants, without saying whose it is: in operators that ONNX has too."""
    values = scores.reshape(-1, scores.shape[-1]).t()
    for parents, children in plan.levels(values.shape[1]):
        values = values.scatter_reduce(0, parents, values.index_select(0, children), "amax")
    return values.t().reshape(scores.shape)


def _ordered_bits(scores: Tensor) -> Tensor:
    """32-bit integers, sign and magnitude, in the order of the scores."""
    if scores.dtype != torch.float64:
        return scores.float().view(torch.int32)
    values, order = scores.sort(dim=-1)  # 64 bits of score do not fit into a key: their rank in the row does
    steps = torch.zeros_like(order, dtype=torch.int32)
    steps[:, 1:] = (values[:, 1:] != values[:, :-1]).cumsum(dim=-1, dtype=torch.int32)
    return torch.empty_like(steps).scatter_(-1, order, steps)

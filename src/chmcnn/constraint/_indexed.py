"""A hierarchy as tensors of indices, on a device."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from chmcnn import _wording
from chmcnn.constraint._keys import OFFSET, RANK_MASK
from chmcnn.errors import HierarchyError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray


class IndexedHierarchy(torch.nn.Module):
    """The edges of a hierarchy in processing order, and the rank of each class, as tensors.

    The tensors are not buffers: buffers are averaged, broadcast and left uninitialised by code that treats them as part
    of a network's state, and the compiled loop does not check these indices. They still move with a module to its
    device, as new copies of the arrays.
    """

    base_keys: Tensor  # (classes,) the part of a key that does not depend on scores
    class_by_rank: Tensor  # (classes,)
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
            raise HierarchyError(
                f"The hierarchy has {_wording.count(size, 'class')}; expected at most {RANK_MASK:,} classes."
            )
        edges, level_sizes = hierarchy.bottom_up()
        edges = edges[_interleave_parents(edges[:, 0], level_sizes)]
        class_by_rank = np.lexsort((np.arange(size), hierarchy.depths))[::-1].copy()
        base_keys = np.empty(size, dtype=np.int64)
        base_keys[class_by_rank] = np.arange(size) + OFFSET
        self.classes = hierarchy.classes
        self.level_sizes: list[int] = level_sizes.tolist()
        self.arrays = {
            "base_keys": base_keys,
            "class_by_rank": class_by_rank,
            "edge_parents": edges[:, 0].copy(),
            "edge_children": edges[:, 1].copy(),
        }
        self._copy_to(device or torch.device("cpu"))

    @property
    def device(self) -> torch.device:
        """Device of the tensors."""
        return self.base_keys.device

    @property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The tensors, in the order in which the compiled loop takes them."""
        return self.base_keys, self.class_by_rank, self.edge_parents, self.edge_children

    @cached_property
    def narrow(self) -> Tensor:
        """All that the compiled loop of the loss reads, one after the other in one tensor.

        The numbers of classes, edges and parents; the ranks of the classes; the classes by rank; the upper and the
        lower ends of the edges; the parents. Indices of 32 bits halve what the loop reads.
        """
        base_keys, class_by_rank, parents, children = self.arrays.values()
        inner = self.inner.numpy()
        sizes, ranks = (len(self.classes), len(parents), len(inner)), base_keys - OFFSET
        return torch.from_numpy(
            np.concatenate((sizes, ranks, class_by_rank, parents, children, inner), dtype=np.int32, casting="unsafe")
        )

    @cached_property
    def inner(self) -> Tensor:
        """The classes with children."""
        return torch.from_numpy(np.unique(self.arrays["edge_parents"]))

    @cached_property
    def ones(self) -> Tensor:
        """The weights of the classes, if none are given, for the compiled loop."""
        return torch.ones(len(self.classes))

    def levels(self, rows: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Return the parents of each level, as an index into a (classes, rows) tensor, and its children."""
        parents = self.edge_parents[:, None].expand(-1, rows).split(self.level_sizes)
        return zip(parents, self.edge_children.split(self.level_sizes), strict=True)

    def _copy_to(self, device: torch.device) -> None:
        for name, array in self.arrays.items():
            setattr(self, name, torch.from_numpy(array).to(device))

    def _apply(self, fn: Callable[[Tensor], Tensor], *_: object, **__: object) -> Self:
        """Follow ``module.to(device)``; there are no parameters, buffers or submodules to apply ``fn`` to."""
        self._copy_to(fn(torch.empty(0, device=self.device)).device)
        return self


def _interleave_parents(parents: NDArray[np.int64], level_sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order each level so that every parent has its first edge before any has its second, and so on.

    In the compiled loop, the processor then does not wait for the value it has just written.
    """
    is_new = np.concatenate(([True], parents[1:] != parents[:-1])) if len(parents) else np.empty(0, dtype=np.bool_)
    turn = np.arange(len(parents)) - np.flatnonzero(is_new)[np.cumsum(is_new) - 1]
    return np.lexsort((turn, np.repeat(np.arange(len(level_sizes)), level_sizes)))


_cache: WeakKeyDictionary[Hierarchy, dict[torch.device, IndexedHierarchy]] = WeakKeyDictionary()


def index_hierarchy(hierarchy: Hierarchy, device: torch.device) -> IndexedHierarchy:
    """Return the indexed hierarchy on a device, built once."""
    if torch.compiler.is_compiling():  # an import of its own: the compiler is a quarter of torch
        from chmcnn.constraint._untraced import look_up

        return look_up(hierarchy, device)
    return look_up_eagerly(hierarchy, device)


def look_up_eagerly(hierarchy: Hierarchy, device: torch.device) -> IndexedHierarchy:
    """Return the indexed hierarchy on a device, by code that the compiler cannot trace."""
    if not isinstance(hierarchy, Hierarchy):
        return IndexedHierarchy(hierarchy)  # raises the error
    by_device = _cache.setdefault(hierarchy, {})
    if device not in by_device:
        with torch.inference_mode(mode=False) if torch.is_inference_mode_enabled() else nullcontext():
            indexed = IndexedHierarchy(hierarchy, device)  # also used later, with gradients
        if type(indexed.base_keys) is not Tensor:  # during an export: a fake tensor without values
            return indexed
        by_device[device] = indexed
    return by_device[device]

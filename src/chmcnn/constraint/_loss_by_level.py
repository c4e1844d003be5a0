"""Loss and gradient together, for logits on the CPU, where numba is not installed: operators of torch and numpy.

The same three steps as in `_loss_kernel`, for blocks of rows: the packed keys go up level by level, the weights of the
classes move to their delegates, and the cross-entropy has these weights.

New memory costs more time than a computation in it, because the system clears each page: all but the gradient is
computed in memory that is kept. Calls of numpy cost less than those of torch, and so does its ``take``; torch has the
faster maximum, exponential and logarithm.
"""

from __future__ import annotations

import math
from threading import local
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from chmcnn.constraint._keys import FIRST_POSITIVE, LABEL_SHIFT, RANK_MASK, SCORE_SHIFT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.constraint._indexed import IndexedHierarchy

_CELLS = 1 << 19
"""Cells of a block, whose memory is some megabytes."""
_KEPT = 1 << 20
"""Cells of the largest block whose memory is kept."""


class Memory:
    """Arrays of a block of rows."""

    def __init__(self, rows: int, classes: int, inner: int) -> None:
        self.shape = rows, classes, inner
        self.scores, self.signs = np.empty((2, classes, rows), np.float32)
        self.wide, self.keys = np.empty((2, classes, rows), np.int64)
        self.ranks = np.empty((rows, inner), np.int64)
        self.losses, self.weights = torch.empty(2, rows, classes)

    @staticmethod
    def of(rows: int, classes: int, inner: int) -> Memory:
        """Return the arrays of the last call on this thread, if they have the right shape."""
        shape = rows, classes, inner
        memory: Memory | None = getattr(_kept, "memory", None)
        if memory is None or memory.shape != shape:
            with torch.inference_mode(mode=False):  # also used later, with gradients
                memory = Memory(*shape)
            _kept.memory = memory if rows * classes <= _KEPT else None
        return memory


_kept = local()


@torch.no_grad()
def loss_by_level(
    logits: Tensor, labels: Tensor, weights: Tensor, hierarchy: IndexedHierarchy, factor: float
) -> tuple[float, Tensor, bool]:
    """Return the loss of all rows, its gradient, both times ``factor``, and whether logits and labels are valid.

    Where they are not, the numbers are arbitrary.
    """
    gradient, flags = torch.empty_like(logits), labels.bool()
    if not math.isfinite(logits.sum()) or (flags is not labels and not torch.equal(flags.to(labels.dtype), labels)):
        return math.nan, gradient, False
    blocks = [tensor.view(-1, tensor.shape[-1]) for tensor in (logits, flags, gradient)]
    count = min(-(-logits.numel() // _CELLS), len(blocks[0]))
    size = -(-len(blocks[0]) // count)
    scaled = weights * factor
    parts = [tensor.split(size) for tensor in blocks]
    results = [_fill_block(*each, scaled, hierarchy) for each in zip(parts[0], parts[1], parts[2], strict=True)]
    return sum(loss for loss, _ in results), gradient, all(is_closed for _, is_closed in results)


def _fill_block(
    logits: Tensor, labels: Tensor, gradient: Tensor, weights: Tensor, hierarchy: IndexedHierarchy
) -> tuple[float, bool]:
    """Fill the gradient of some rows, and return their loss and whether their labels are closed."""
    memory = Memory.of(len(logits), logits.shape[1], len(hierarchy.inner))
    positive = np.flatnonzero(labels.numpy())  # few: almost all labels are 0
    _pack(logits.numpy(), positive, hierarchy, memory)
    _pass_up(memory.keys, hierarchy)
    is_closed = np.count_nonzero(memory.keys >= FIRST_POSITIVE) == len(positive)
    _spread(weights, hierarchy, memory)
    return _fill_gradient(logits, positive, memory, gradient), is_closed


def _pack(
    logits: NDArray[np.float32], positive: NDArray[np.int64], hierarchy: IndexedHierarchy, memory: Memory
) -> None:
    """Fill the keys (classes, rows) of `chmcnn.constraint._delegates`, for finite logits."""
    np.add(logits.T, np.float32(0), out=memory.scores)  # there is no negative zero any more
    bits, signs = memory.scores.view(np.int32), memory.signs.view(np.int32)
    np.right_shift(bits, 31, out=signs)
    signs &= 0x7FFFFFFF
    bits ^= signs
    np.left_shift(bits, SCORE_SHIFT, out=memory.wide, dtype=np.int64)
    np.add(memory.wide, hierarchy.arrays["base_keys"][:, None], out=memory.keys)
    rows, columns = np.divmod(positive, logits.shape[1])
    memory.keys[columns, rows] += 1 << LABEL_SHIFT


def _pass_up(keys: NDArray[np.int64], hierarchy: IndexedHierarchy) -> None:
    """Give each class the highest key among itself and its descendants."""
    comparable = torch.from_numpy(keys).view(torch.float64)
    for parents, children in hierarchy.levels(keys.shape[1]):
        from_children = torch.from_numpy(keys.take(children.numpy(), axis=0)).view(torch.float64)
        comparable.scatter_reduce_(0, parents, from_children, "amax")


def _spread(weights: Tensor, hierarchy: IndexedHierarchy, memory: Memory) -> None:
    """Fill the weights (rows, classes), where those of classes with children are with their delegates."""
    inner = hierarchy.inner
    winners = memory.keys.take(inner.numpy(), axis=0)
    np.bitwise_and(winners.T, RANK_MASK, out=memory.ranks)
    delegates = torch.from_numpy(hierarchy.arrays["class_by_rank"].take(memory.ranks))
    memory.weights.copy_(weights.index_fill(0, inner, 0))
    memory.weights.scatter_add_(1, delegates, weights[inner].expand(delegates.shape))


def _fill_gradient(logits: Tensor, positive: NDArray[np.int64], memory: Memory, gradient: Tensor) -> float:
    """Fill the gradient of the weighted cross-entropy, and return its sum."""
    margins = gradient.copy_(logits).numpy().reshape(-1)  # how far each logit is on the wrong side
    margins[positive] *= -1
    losses = F.softplus(gradient, out=memory.losses)  # type: ignore[call-arg]  # not in torch's stubs
    loss = losses.mul_(memory.weights).sum()
    gradient.sigmoid_().mul_(memory.weights)
    margins[positive] *= -1
    return float(loss)

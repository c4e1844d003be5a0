"""Loss and gradient together, for logits on the CPU, where numba is not installed: operators of torch and numpy.

The same three steps as in `_loss_kernel`, for blocks of rows: the packed keys go up level by level, the weights of the
classes move to their delegates, and the cross-entropy has these weights.

Most of the time is that of moving data. So a block is small enough for the cache of a processor, what is not needed any
more is overwritten, and all but the gradient is computed in memory that is kept: the system clears each page of new
memory. Calls of numpy cost less than those of torch, and so does its ``take``; torch has the faster exponential and
logarithm, and a product with a sparse matrix that takes maxima instead of sums.
"""

from __future__ import annotations

import math
from threading import local
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from chmcnn.constraint._keys import FIRST_POSITIVE, LABEL_SHIFT, RANK_MASK, SCORE_SHIFT
from chmcnn.constraint._steps import find_ascent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.constraint._indexed import IndexedHierarchy

_CELLS = 1 << 18
"""Cells of a block, whose memory is some megabytes."""
_KEPT = 1 << 20
"""Cells of the largest block whose memory is kept."""


class Memory:
    """Arrays of a block of rows; some share their memory, because they are needed one after the other."""

    def __init__(self, rows: int, classes: int, inner: int) -> None:
        self.shape = rows, classes, inner
        self.bits = np.empty((rows, classes), np.int32)
        keys = np.empty((classes + inner, rows), np.int64)
        self.own, self.highest = keys[:classes], keys[classes:]
        self.comparable = torch.from_numpy(keys.view(np.float64))
        self.delegates = self.own[:inner]
        self.losses = torch.from_numpy(self.own.view(np.float32).reshape(-1)[: self.bits.size].reshape(rows, classes))
        self.exponentials = torch.from_numpy(self.bits.view(np.float32))
        self.weights = torch.empty(rows, classes)

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


class Weights(NamedTuple):
    """Weights of the classes, times a factor: 0 for those with children, and those of them."""

    factor: float
    staying: NDArray[np.float32]  # (classes,)
    moving: NDArray[np.float32]  # (classes with children,), in the order of `Ascent`


_known: WeakKeyDictionary[IndexedHierarchy, Weights] = WeakKeyDictionary()


@torch.no_grad()
def loss_by_level(
    logits: Tensor, labels: Tensor, weights: Tensor, hierarchy: IndexedHierarchy, factor: float
) -> tuple[float, Tensor]:
    """Return the loss of all rows, NaN if logits or labels are not valid, and its gradient, both times ``factor``."""
    gradient, flags = torch.empty_like(logits), labels.bool()
    if not math.isfinite(logits.sum()) or (flags is not labels and not torch.equal(flags.to(labels.dtype), labels)):
        return math.nan, gradient
    values, is_positive, slopes = (
        tensor.detach().numpy().reshape(-1, tensor.shape[-1]) for tensor in (logits, flags, gradient)
    )
    count = 1 << ((values.size - 1) // _CELLS).bit_length()  # a power of two: most batches have blocks of one size
    size = -(-len(values) // count)
    blocks = [slice(start, start + size) for start in range(0, len(values), size)]
    split = _split(weights, factor, hierarchy)
    losses = [_fill_block(values[rows], is_positive[rows], slopes[rows], split, hierarchy) for rows in blocks]
    return sum(losses), gradient


def _split(weights: Tensor, factor: float, hierarchy: IndexedHierarchy) -> Weights:
    """Return the weights times ``factor``; without weights, those of the last call, if they are the same."""
    found = _known.get(hierarchy)
    if weights is hierarchy.ones and found and found.factor == factor:
        return found
    inner = find_ascent(hierarchy).inner
    staying = weights.numpy() * np.float32(factor)
    split = Weights(factor, staying, staying[inner])
    staying[inner] = 0
    if weights is hierarchy.ones:
        _known[hierarchy] = split
    return split


def _fill_block(
    logits: NDArray[np.float32],
    labels: NDArray[np.bool_],
    gradient: NDArray[np.float32],
    weights: Weights,
    hierarchy: IndexedHierarchy,
) -> float:
    """Fill the gradient of some rows, and return their loss, NaN if their labels are not closed."""
    memory = Memory.of(len(logits), logits.shape[1], len(hierarchy.inner))
    positive = np.flatnonzero(labels)  # few: almost all labels are 0
    np.subtract(np.float32(0), logits, out=gradient)  # without negative zeros
    rows, columns = np.divmod(positive, logits.shape[1])
    _pack(gradient, (columns, rows), hierarchy, memory)
    _pass_up(hierarchy, memory)
    has_children = find_ascent(hierarchy).has_children
    if np.count_nonzero(memory.highest >= FIRST_POSITIVE) > np.count_nonzero(has_children[columns]):
        return math.nan
    _spread(weights, hierarchy, memory)
    return _fill_gradient(gradient, positive, memory)


def _pack(
    negative: NDArray[np.float32],
    positive: tuple[NDArray[np.int64], NDArray[np.int64]],
    hierarchy: IndexedHierarchy,
    memory: Memory,
) -> None:
    """Fill the keys (classes, rows) of `chmcnn.constraint._delegates`, for negative finite logits without -0."""
    bits = negative.view(np.int32)
    np.right_shift(bits, 31, out=memory.bits)
    memory.bits &= 0x7FFFFFFF
    memory.bits ^= bits
    np.copyto(memory.own, memory.bits.T)
    keys = torch.from_numpy(memory.own)
    torch.sub(hierarchy.base_keys[:, None], keys, alpha=1 << SCORE_SHIFT, out=keys)
    memory.own[positive] += 1 << LABEL_SHIFT


def _pass_up(hierarchy: IndexedHierarchy, memory: Memory) -> None:
    """Find the highest key among each class with children and its descendants."""
    highest = memory.highest.view(np.float64)
    for part, matrix in find_ascent(hierarchy).steps:
        highest[part] = torch.sparse.mm(matrix, memory.comparable, "amax").numpy()


def _spread(weights: Weights, hierarchy: IndexedHierarchy, memory: Memory) -> None:
    """Fill the weights (rows, classes), where those of classes with children are with their delegates."""
    ranks = np.bitwise_and(memory.highest, RANK_MASK, out=memory.highest)
    hierarchy.arrays["class_by_rank"].take(ranks, out=memory.delegates, mode="clip")  # any other mode makes a copy
    memory.weights.numpy()[:] = weights.staying
    delegates = torch.from_numpy(memory.delegates).t()
    memory.weights.scatter_add_(1, delegates, torch.from_numpy(weights.moving).expand(delegates.shape))


def _fill_gradient(gradient: NDArray[np.float32], positive: NDArray[np.int64], memory: Memory) -> float:
    """Turn negative logits into the gradient of the weighted cross-entropy, and return its sum."""
    losses, exponentials, weights = memory.losses, memory.exponentials, memory.weights
    gradient.reshape(-1)[positive] *= -1
    margins = torch.from_numpy(gradient)  # how far each logit is on the right side
    torch.ops.aten.log_sigmoid_forward.output(margins, output=losses, buffer=exponentials)
    loss = losses.mul_(weights).sum()
    weights.numpy().reshape(-1)[positive] *= -1
    torch.ops.aten.log_sigmoid_backward.grad_input(weights, margins, exponentials, grad_input=margins)
    return -float(loss)

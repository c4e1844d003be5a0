"""Loss and gradient together, for logits on the CPU, where numba is not installed: operators of torch and numpy.

The same three steps as in `_loss_kernel`, for blocks of rows: the packed keys go up level by level, the weights of the
classes move to their delegates, and the cross-entropy has these weights.

New memory costs more time than a computation in it, because the system clears each page: all but the gradient is
computed in memory that is kept. Calls of numpy cost less than those of torch, and so does its ``take``; torch has the
faster exponential and logarithm, and a product with a sparse matrix that takes maxima instead of sums.
"""

from __future__ import annotations

import math
from threading import local
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from chmcnn.constraint._keys import FIRST_POSITIVE, LABEL_SHIFT, RANK_MASK, SCORE_SHIFT
from chmcnn.constraint._steps import find_steps

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
        self.keys = np.empty((classes, rows), np.int64)
        self.ranks = np.empty((rows, inner), np.int64)
        self.losses, self.weights, self.exponentials = torch.empty(3, rows, classes)

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
    scaled = weights.numpy() * np.float32(factor)
    losses = [_fill_block(values[rows], is_positive[rows], slopes[rows], scaled, hierarchy) for rows in blocks]
    return sum(losses), gradient


def _fill_block(
    logits: NDArray[np.float32],
    labels: NDArray[np.bool_],
    gradient: NDArray[np.float32],
    weights: NDArray[np.float32],
    hierarchy: IndexedHierarchy,
) -> float:
    """Fill the gradient of some rows, and return their loss, NaN if their labels are not closed."""
    memory = Memory.of(len(logits), logits.shape[1], len(hierarchy.inner))
    positive = np.flatnonzero(labels)  # few: almost all labels are 0
    _pack(logits, positive, hierarchy, memory)
    _pass_up(memory.keys, hierarchy)
    if np.count_nonzero(memory.keys >= FIRST_POSITIVE) > len(positive):
        return math.nan
    _spread(weights, hierarchy, memory)
    return _fill_gradient(logits, positive, memory, gradient)


def _pack(
    logits: NDArray[np.float32], positive: NDArray[np.int64], hierarchy: IndexedHierarchy, memory: Memory
) -> None:
    """Fill the keys (classes, rows) of `chmcnn.constraint._delegates`, for finite logits."""
    np.add(logits.T, np.float32(0), out=memory.scores)  # there is no negative zero any more
    bits, signs = memory.scores.view(np.int32), memory.signs.view(np.int32)
    np.right_shift(bits, 31, out=signs)
    signs &= 0x7FFFFFFF
    bits ^= signs
    np.multiply(bits, 1 << SCORE_SHIFT, out=memory.keys, dtype=np.int64)
    memory.keys += hierarchy.arrays["base_keys"][:, None]
    rows, columns = np.divmod(positive, logits.shape[1])
    memory.keys[columns, rows] += 1 << LABEL_SHIFT


def _pass_up(keys: NDArray[np.int64], hierarchy: IndexedHierarchy) -> None:
    """Give each class the highest key among itself and its descendants."""
    numbers = keys.view(np.float64)
    comparable = torch.from_numpy(numbers)
    for parents, matrix in find_steps(hierarchy):
        numbers[parents] = torch.sparse.mm(matrix, comparable, "amax").numpy()


def _spread(weights: NDArray[np.float32], hierarchy: IndexedHierarchy, memory: Memory) -> None:
    """Fill the weights (rows, classes), where those of classes with children are with their delegates."""
    inner = hierarchy.inner.numpy()
    winners = memory.keys.take(inner, axis=0)
    np.bitwise_and(winners.T, RANK_MASK, out=memory.ranks)
    delegates = torch.from_numpy(hierarchy.arrays["class_by_rank"].take(memory.ranks))
    own, moved = weights.copy(), torch.from_numpy(weights[inner])
    own[inner] = 0
    memory.weights.numpy()[:] = own
    memory.weights.scatter_add_(1, delegates, moved.expand(delegates.shape))


def _fill_gradient(
    logits: NDArray[np.float32], positive: NDArray[np.int64], memory: Memory, gradient: NDArray[np.float32]
) -> float:
    """Fill the gradient of the weighted cross-entropy, and return its sum."""
    losses, exponentials, weights = memory.losses, memory.exponentials, memory.weights
    np.negative(logits, out=gradient)
    gradient.reshape(-1)[positive] *= -1
    margins = torch.from_numpy(gradient)  # how far each logit is on the right side
    torch.ops.aten.log_sigmoid_forward.output(margins, output=losses, buffer=exponentials)
    loss = losses.mul_(weights).sum()
    weights.numpy().reshape(-1)[positive] *= -1
    torch.ops.aten.log_sigmoid_backward.grad_input(weights, margins, exponentials, grad_input=margins)
    return -float(loss)

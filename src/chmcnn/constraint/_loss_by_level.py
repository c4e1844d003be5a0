"""Loss and gradient together, for logits on the CPU, where numba is not installed: operators of torch and numpy.

The same three steps as in `_loss_kernel`, for blocks of rows: the packed keys go up level by level, the weights of the
classes move to their delegates, and the cross-entropy has these weights. The keys are those of `Ascent`: the lowest one
is that of the delegate, and its low bits are the delegate's position.

Most of the time is that of moving data. So a block is small enough for the cache of a processor, what is not needed any
more is overwritten, and all but the gradient is computed in memory that is kept: the system clears each page of new
memory. Calls of numpy cost less than those of torch; torch has the faster exponential and logarithm, and a product with
a sparse matrix that takes minima instead of sums.
"""

from __future__ import annotations

import math
from threading import local
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from chmcnn.constraint._keys import LABEL_SHIFT, OFFSET, SCORE_SHIFT
from chmcnn.constraint._steps import Ascent, find_ascent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.constraint._indexed import IndexedHierarchy

_CELLS = 1 << 18
"""Cells of a block, whose memory is some megabytes."""
_KEPT = 1 << 20
"""Cells of the largest block whose memory is kept."""
_CLASSES_AT_ONCE = 8192
"""Losses that are added up as float32 numbers."""
_FIRST_NEGATIVE = OFFSET - (1 << (LABEL_SHIFT - 1))
"""Smaller than every key with label 0 and a finite score, larger than every one with label 1."""


class Memory:
    """Arrays of a block of rows; some share their memory, because they are needed one after the other."""

    def __init__(self, rows: int, classes: int, inner: int) -> None:
        self.shape = rows, classes, inner
        self.weights = np.empty((rows, classes), np.float32)
        self.ordered = self.weights.view(np.int32)
        keys = np.empty((classes + inner, rows), np.int64)
        self.own, self.lowest = keys[:classes], keys[classes:]
        self.losses = self.own.view(np.float32).reshape(-1)[: rows * classes].reshape(rows, classes)
        self.comparable = torch.from_numpy(keys.view(np.float64))

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
    """Return the loss of all rows and its gradient, both times ``factor``.

    The loss is NaN if logits or labels are not valid, logits are beyond 1e15, or the keys of the hierarchy do not fit.
    """
    gradient, flags, ascent = torch.empty_like(logits), labels.bool(), find_ascent(hierarchy)
    if not ascent.fits or (flags is not labels and not torch.equal(flags.to(labels.dtype), labels)):
        return math.nan, gradient
    values, is_positive, slopes = (
        tensor.detach().numpy().reshape(-1, tensor.shape[-1]) for tensor in (logits, flags, gradient)
    )
    count = 1 << ((values.size - 1) // _CELLS).bit_length()  # a power of two: most batches have blocks of one size
    size = -(-len(values) // count)
    blocks = [slice(start, start + size) for start in range(0, len(values), size)]
    split = _split(weights, factor, hierarchy)
    losses = [_fill_block(values[rows], is_positive[rows], slopes[rows], split, ascent) for rows in blocks]
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
    ascent: Ascent,
) -> float:
    """Fill the gradient of some rows, and return their loss, NaN if logits or labels are not valid."""
    memory = Memory.of(len(logits), logits.shape[1], len(ascent.inner))
    positive = np.flatnonzero(labels)  # few: almost all labels are 0
    np.add(logits, np.float32(0), out=gradient)  # without negative zeros
    if not math.isfinite(_dot(gradient, gradient)):
        return math.nan
    rows, columns = np.divmod(positive, logits.shape[1])
    _pack(gradient, (columns, rows), ascent, memory)
    _pass_up(ascent, memory)
    if np.count_nonzero(memory.lowest < _FIRST_NEGATIVE) > np.count_nonzero(ascent.has_children[columns]):
        return math.nan
    _spread(weights, ascent, memory)
    return _fill_gradient(gradient, positive, memory)


def _dot(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Return the sum of the products of two (rows, classes) arrays."""
    parts = (slice(start, start + _CLASSES_AT_ONCE) for start in range(0, one.shape[1], _CLASSES_AT_ONCE))
    with np.errstate(over="ignore", invalid="ignore"):
        return float(sum(np.vecdot(one[:, part], other[:, part]).sum(dtype=np.float64) for part in parts))


def _pack(
    logits: NDArray[np.float32],
    positive: tuple[NDArray[np.int64], NDArray[np.int64]],
    ascent: Ascent,
    memory: Memory,
) -> None:
    """Fill the keys (classes, rows), for finite logits without -0."""
    bits = logits.view(np.int32)
    np.right_shift(bits, 31, out=memory.ordered)
    memory.ordered &= 0x7FFFFFFF
    memory.ordered ^= bits
    np.copyto(memory.own, memory.ordered.T)
    keys = torch.from_numpy(memory.own)
    torch.sub(ascent.base_keys[:, None], keys, alpha=1 << SCORE_SHIFT, out=keys)
    memory.own[positive] -= 1 << LABEL_SHIFT


def _pass_up(ascent: Ascent, memory: Memory) -> None:
    """Find the lowest key among each class with children and its descendants."""
    lowest = memory.lowest.view(np.float64)
    for part, matrix in ascent.steps:
        lowest[part] = torch.sparse.mm(matrix, memory.comparable, "amin").numpy()


def _spread(weights: Weights, ascent: Ascent, memory: Memory) -> None:
    """Fill the weights (rows, classes), where those of classes with children are with their delegates."""
    memory.weights[:] = weights.staying
    memory.lowest &= ascent.class_mask
    delegates = torch.from_numpy(memory.lowest).t()
    moving = torch.from_numpy(weights.moving).expand(delegates.shape)
    torch.from_numpy(memory.weights).scatter_add_(1, delegates, moving)


def _fill_gradient(gradient: NDArray[np.float32], positive: NDArray[np.int64], memory: Memory) -> float:
    """Turn logits into the gradient of the weighted cross-entropy, and return its sum."""
    wrong, losses = torch.from_numpy(gradient), torch.from_numpy(memory.losses)
    gradient.reshape(-1)[positive] *= -1  # how far each logit is on the wrong side
    torch.exp(wrong, out=losses).log1p_()
    loss = _dot(memory.losses, memory.weights)
    if not math.isfinite(loss):  # an exponential is infinite
        loss = _dot(F.softplus(wrong).numpy(), memory.weights)
    memory.weights.reshape(-1)[positive] *= -1
    wrong.sigmoid_().mul_(torch.from_numpy(memory.weights))
    return loss

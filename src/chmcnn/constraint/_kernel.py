"""The compiled loop over the edges: an accelerator on the CPU, there when numba is installed.

It runs on one thread: two were slower at every size measured by ``python -m benchmarks.ways``, and numba's own layers
for threads end the process when they are called from two threads, or after a fork.
"""

from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from chmcnn.constraint._keys import INFINITY, LABEL_SHIFT, RANK_MASK, SCORE_SHIFT


def _loop(  # noqa: PLR0913, PLR0917 -- compiled code takes arrays, one by one
    bits: NDArray[np.int32],
    labels: NDArray[np.bool_] | NDArray[np.float32] | None,
    base: NDArray[np.int64],
    by_rank: NDArray[np.int64],
    parents: NDArray[np.int64],
    children: NDArray[np.int64],
    out: NDArray[np.int64],
) -> bool:
    """Fill ``out`` as `decide` says; return whether all is valid.

    Without labels: no score is NaN. With labels: no score is NaN or infinite, and labels are 0 or 1, and closed.
    """
    rows, classes = bits.shape
    keys = np.empty(classes, np.int64)
    highest = np.int32(0)
    wrong = np.int64(0)
    for row in range(rows):
        for c in range(classes):
            magnitude = bits[row, c] & np.int32(0x7FFFFFFF)
            highest = max(highest, magnitude)
            negative = (bits[row, c] < 0) & (magnitude <= np.int32(INFINITY))  # NaN is the highest of all
            keys[c] = base[c] + (np.int64(-magnitude if negative else magnitude) << SCORE_SHIFT)
        if labels is not None:
            for c in range(classes):
                wrong |= np.int64((labels[row, c] != 0) & (labels[row, c] != 1))
                keys[c] += np.int64(labels[row, c] != 0) << LABEL_SHIFT
        for edge in range(len(parents)):
            parent, child = np.uint64(parents[edge]), np.uint64(children[edge])  # a signed index may count from the end
            keys[parent] = max(keys[parent], keys[child])
        for c in range(classes):
            out[row, c] = by_rank[np.uint64(keys[c] & RANK_MASK)]
        if labels is not None:
            for c in range(classes):
                wrong |= ((keys[c] >> LABEL_SHIFT) & 1) ^ np.int64(labels[row, c] != 0)
    return bool(highest <= INFINITY if labels is None else highest < INFINITY and wrong == 0)


def _highest(
    scores: NDArray[np.floating],
    parents: NDArray[np.int64],
    children: NDArray[np.int64],
    out: NDArray[np.floating],
) -> bool:
    """Fill ``out`` with the highest score among each class and its descendants; return whether no score is NaN."""
    clean = True
    for row in range(scores.shape[0]):
        for c in range(scores.shape[1]):
            out[row, c] = scores[row, c]
            clean &= not np.isnan(scores[row, c])
        for edge in range(len(parents)):
            parent, child = np.uint64(parents[edge]), np.uint64(children[edge])
            value, own = out[row, child], out[row, parent]
            out[row, parent] = own if (own >= value) | np.isnan(own) else value  # NaN is the highest of all
    return clean


try:
    _loop = numba.njit(nogil=True, cache=True)(_loop)
    _highest = numba.njit(nogil=True, cache=True)(_highest)
except RuntimeError:  # no folder to keep compiled code in: compile it in every process
    _loop = numba.njit(nogil=True)(_loop)
    _highest = numba.njit(nogil=True)(_highest)


def highest(scores: Tensor, parents: NDArray[np.int64], children: NDArray[np.int64]) -> tuple[Tensor, bool]:
    """The highest score among each class and its descendants, for (rows, classes), and whether no score is NaN.

    Where no gradient is wanted, this is all that the constraint has to do.
    """
    out = torch.empty_like(scores)
    clean = _highest(scores.numpy(), parents, children, out.numpy())
    return out, clean


def _decide(bits: Tensor, labels: Tensor | None, *plan: Tensor) -> tuple[Tensor, Tensor]:
    index = torch.empty(bits.shape, dtype=torch.int64)
    rows = None if labels is None else labels.contiguous().numpy()
    clean = _loop(bits.contiguous().numpy(), rows, *(tensor.numpy() for tensor in plan), index.numpy())  # type: ignore[call-arg]
    return index, torch.tensor(clean)


# An operator of torch, so that torch.compile and torch.func can look past it. `torch.library.custom_op` would do the
# same in fewer lines, but imports the whole compiler at the first call.
torch.library.define(
    "chmcnn::decide",
    "(Tensor bits, Tensor? labels, Tensor base, Tensor by_rank, Tensor parents, Tensor children) -> (Tensor, Tensor)",
)
torch.library.impl("chmcnn::decide", "CPU", _decide)


@torch.library.register_fake("chmcnn::decide")  # type: ignore[untyped-decorator]
def _(bits: Tensor, *_: Tensor | None) -> tuple[Tensor, Tensor]:
    return bits.new_empty(bits.shape, dtype=torch.int64), bits.new_empty((), dtype=torch.bool)


decide = torch.ops.chmcnn.decide


@torch.library.register_vmap("chmcnn::decide")  # type: ignore[untyped-decorator]
def _(
    info: Any,  # noqa: ANN401 -- torch does not name its type
    in_dims: tuple[int | None, ...],
    bits: Tensor,
    labels: Tensor | None,
    *plan: Tensor,
) -> tuple[tuple[Tensor, Tensor], tuple[int, None]]:
    def rows(tensor: Tensor, dim: int | None) -> Tensor:
        batched = tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
        return batched.flatten(0, 1)

    index, clean = decide(rows(bits, in_dims[0]), None if labels is None else rows(labels, in_dims[1]), *plan)
    return (index.unflatten(0, (info.batch_size, -1)), clean), (0, None)

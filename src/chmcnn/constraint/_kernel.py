"""The compiled loop over the edges, for scores on the CPU. Needs numba.

It runs on one thread: two were slower at every size measured by ``python -m benchmarks.ways``, and numba's threading
layers end the process when called from two threads, or after a fork.
"""

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from chmcnn.constraint._compiling import compiled
from chmcnn.constraint._keys import INFINITY, LABEL_SHIFT, RANK_MASK, SCORE_SHIFT


@compiled()
def _find_delegates_loop(
    bits: NDArray[np.int32],
    labels: NDArray[np.bool_] | NDArray[np.float32] | None,
    base_keys: NDArray[np.int64],
    class_by_rank: NDArray[np.int64],
    parents: NDArray[np.int64],
    children: NDArray[np.int64],
    out: NDArray[np.int64],
) -> bool:
    """Fill ``out`` with the delegates; return whether the input is valid.

    Valid without labels: no score is NaN. With labels: no score is NaN or infinite, and labels are 0 or 1 and closed.
    """
    rows, classes = bits.shape
    keys = np.empty(classes, np.int64)
    largest = np.int32(0)
    wrong = np.int64(0)
    for row in range(rows):
        for c in range(classes):
            magnitude = bits[row, c] & np.int32(0x7FFFFFFF)
            largest = max(largest, magnitude)
            negative = (bits[row, c] < 0) & (magnitude <= np.int32(INFINITY))  # NaN is the highest of all
            keys[c] = base_keys[c] + (np.int64(-magnitude if negative else magnitude) << SCORE_SHIFT)
        if labels is not None:
            for c in range(classes):
                wrong |= np.int64((labels[row, c] != 0) & (labels[row, c] != 1))
                keys[c] += np.int64(labels[row, c] != 0) << LABEL_SHIFT
        for edge in range(len(parents)):
            parent, child = np.uint64(parents[edge]), np.uint64(children[edge])  # a signed index may count from the end
            keys[parent] = max(keys[parent], keys[child])
        for c in range(classes):
            out[row, c] = class_by_rank[np.uint64(keys[c] & RANK_MASK)]
        if labels is not None:
            for c in range(classes):
                wrong |= ((keys[c] >> LABEL_SHIFT) & 1) ^ np.int64(labels[row, c] != 0)
    return bool(largest <= INFINITY if labels is None else largest < INFINITY and wrong == 0)


@compiled()
def _highest_scores_loop(
    scores: NDArray[np.floating],
    parents: NDArray[np.int64],
    children: NDArray[np.int64],
    out: NDArray[np.floating],
) -> bool:
    """Fill ``out`` with the highest score among each class and its descendants; return whether no score is NaN."""
    is_valid = True
    for row in range(scores.shape[0]):
        for c in range(scores.shape[1]):
            out[row, c] = scores[row, c]
            is_valid &= not np.isnan(scores[row, c])
        for edge in range(len(parents)):
            parent, child = np.uint64(parents[edge]), np.uint64(children[edge])
            value, own = out[row, child], out[row, parent]
            out[row, parent] = own if (own >= value) | np.isnan(own) else value  # NaN is the highest of all
    return is_valid


def highest_scores(scores: Tensor, parents: NDArray[np.int64], children: NDArray[np.int64]) -> tuple[Tensor, bool]:
    """Return the highest score among each class and its descendants, for (rows, classes), and whether no score is NaN.

    Without a gradient, this is all that the constraint has to do.
    """
    out = torch.empty_like(scores)
    is_valid = _highest_scores_loop(scores.numpy(), parents, children, out.numpy())
    return out, is_valid


def _find_delegates(bits: Tensor, labels: Tensor | None, *hierarchy: Tensor) -> tuple[Tensor, Tensor]:
    index = torch.empty(bits.shape, dtype=torch.int64)
    label_array = None if labels is None else labels.contiguous().numpy()
    base_keys, class_by_rank, parents, children = (tensor.numpy() for tensor in hierarchy)
    is_valid = _find_delegates_loop(
        bits.contiguous().numpy(), label_array, base_keys, class_by_rank, parents, children, index.numpy()
    )
    return index, torch.tensor(is_valid)


def _fake(bits: Tensor, *_: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return outputs of the right shape and type, without values."""
    return bits.new_empty(bits.shape, dtype=torch.int64), bits.new_empty((), dtype=torch.bool)


class _VmapInfo(Protocol):
    batch_size: int


def _vmap(
    info: _VmapInfo, in_dims: tuple[int | None, ...], bits: Tensor, labels: Tensor | None, *hierarchy: Tensor
) -> tuple[tuple[Tensor, Tensor], tuple[int, None]]:
    """Process the rows of all batches in one call."""

    def rows(tensor: Tensor, dim: int | None) -> Tensor:
        batched = tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
        return batched.flatten(0, 1)

    all_labels = None if labels is None else rows(labels, in_dims[1])
    index, is_valid = find_delegates(rows(bits, in_dims[0]), all_labels, *hierarchy)
    return (index.unflatten(0, (info.batch_size, -1)), is_valid), (0, None)


# A torch operator, so that torch.compile and torch.func can handle it. `torch.library.custom_op` needs fewer lines, but
# imports the whole compiler at the first call.
_OPERATOR = "chmcnn::delegates"
torch.library.define(
    _OPERATOR,
    "(Tensor bits, Tensor? labels, Tensor base_keys, Tensor class_by_rank, Tensor parents, Tensor children) "
    "-> (Tensor, Tensor)",
)
torch.library.impl(_OPERATOR, "CPU", _find_delegates)
torch.library.register_fake(_OPERATOR, _fake)
torch.library.register_vmap(_OPERATOR, _vmap)
find_delegates = torch.ops.chmcnn.delegates

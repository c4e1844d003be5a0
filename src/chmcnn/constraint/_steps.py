"""The edges of a hierarchy as sparse matrices, for a product that takes minima instead of sums.

A step completes the classes of one level or several. Each of them has a row in its matrix, whose entries are the class
itself and those below it, down to the classes that earlier steps have completed.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from chmcnn.constraint._keys import OFFSET, SCORE_SHIFT

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from chmcnn.constraint._indexed import IndexedHierarchy

_MORE_PAIRS = 256
"""Pairs of a class and a descendant that take as long as one more step, for 64 rows."""


class Step(NamedTuple):
    """Classes, and a matrix (classes of the step, all classes)."""

    parents: NDArray[np.int64]
    matrix: csr_array


class Ascent(NamedTuple):
    """The steps of a hierarchy, for keys in two parts: those of the classes, then the lowest ones as they are found.

    The classes with children have the second part, in the order in which steps complete them. A step fills a slice of
    it; its matrix is (classes of the step, both parts).

    The keys are those of `chmcnn.constraint._delegates` with the opposite order: the delegate has the lowest one. In
    place of the rank of a class they have its position, below a number which is higher for deeper classes: so a key
    names its class, and no table of ranks is read.
    """

    base_keys: Tensor  # (classes,) the part of a key that does not depend on scores
    class_mask: int
    fits: bool  # whether these parts have enough bits: not in a very long chain of very many classes
    inner: NDArray[np.int64]
    has_children: NDArray[np.bool_]  # (classes,)
    steps: list[tuple[slice, Tensor]]


_cache: WeakKeyDictionary[IndexedHierarchy, Ascent] = WeakKeyDictionary()
"""Not in the hierarchy itself: torch cannot copy sparse tensors with a module."""


def find_ascent(hierarchy: IndexedHierarchy) -> Ascent:
    """Return the steps, the deepest first, built once."""
    if hierarchy not in _cache:
        with torch.inference_mode(mode=False):  # also used later, with gradients
            _cache[hierarchy] = Ascent(*_number(hierarchy), *_place(_build(hierarchy), len(hierarchy.classes)))
    return _cache[hierarchy]


def _number(hierarchy: IndexedHierarchy) -> tuple[Tensor, int, bool]:
    """Return the base keys of the classes, which of their bits are the position of the class, and whether they fit."""
    classes = hierarchy.arrays["class_by_rank"][::-1]  # depth by depth, each in ascending order
    bits = len(classes).bit_length()
    parts = (np.cumsum(np.diff(classes, prepend=0) < 0) << bits) + classes
    base_keys = np.empty(len(classes), np.int64)
    base_keys[classes] = OFFSET + parts
    return torch.from_numpy(base_keys), (1 << bits) - 1, bool(parts.max() < 1 << SCORE_SHIFT)


def _place(steps: list[Step], classes: int) -> tuple[NDArray[np.int64], NDArray[np.bool_], list[tuple[slice, Tensor]]]:
    """Let each step read the lowest keys that earlier steps have found, and the keys of other classes."""
    from scipy.sparse import csr_array

    inner = np.concatenate([np.empty(0, np.int64), *(step.parents for step in steps)])
    places, placed = np.arange(classes), list[tuple[slice, Tensor]]()
    for step in steps:
        done = sum(part.stop - part.start for part, _ in placed)
        part = slice(done, done + len(step.parents))
        parts = step.matrix.data, places[step.matrix.indices], step.matrix.indptr
        matrix = csr_array(parts, shape=(len(step.parents), classes + len(inner)))
        placed.append((part, _to_tensor(matrix, np.int32)))  # half of what is read
        places[step.parents] = classes + np.arange(part.start, part.stop)
    return inner, places >= classes, placed


def _build(hierarchy: IndexedHierarchy) -> list[Step]:
    from scipy.sparse import csr_array

    parents, children = hierarchy.arrays["edge_parents"], hierarchy.arrays["edge_children"]
    own = np.arange(len(hierarchy.classes))
    ends = np.concatenate((parents, own)), np.concatenate((children, own))
    matrix = csr_array((np.ones(len(ends[0])), ends), shape=(len(own), len(own)))
    steps: list[Step] = []
    for level in map(np.unique, np.split(parents, np.cumsum(hierarchy.level_sizes)[:-1])):
        step = Step(level, matrix[level])
        joined = _join(steps[-1], step) if steps else None
        steps[len(steps) - bool(joined) :] = [joined or step]
    return steps


def _join(lower: Step, upper: Step) -> Step | None:
    """Return one step that does what two do, or None if that would take longer."""
    from scipy.sparse import vstack

    matrix = upper.matrix + upper.matrix[:, lower.parents] @ lower.matrix
    if matrix.nnz - upper.matrix.nnz > _MORE_PAIRS:
        return None
    matrix.data[:] = 1  # not the number of ways from a class to another
    return Step(np.concatenate((lower.parents, upper.parents)), vstack((lower.matrix, matrix), format="csr"))


def to_sparse_tensor(matrix: csr_array) -> Tensor:
    """Return a sparse matrix as a CSR tensor, such as the input of `chmcnn.nn.SparseMLP`."""
    return _to_tensor(matrix, np.int64)


def _to_tensor(matrix: csr_array, index: type[np.int32 | np.int64]) -> Tensor:
    offsets, columns = (torch.from_numpy(part.astype(index)) for part in (matrix.indptr, matrix.indices))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
        return torch.sparse_csr_tensor(
            offsets, columns, torch.from_numpy(matrix.data), matrix.shape, check_invariants=False
        )

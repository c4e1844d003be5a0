"""How many labels and scores are at or above each score of a label: what precision-recall curves are made of.

Recall changes only at scores of labels. A first pass over the blocks of scores collects these. A second one sorts each
block, and looks them up in it. Memory grows with the labels, and the counts are integers, the same for all partitions
into blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from chmcnn.metrics._pairs import Pairs


Exchange: TypeAlias = Callable[["NDArray[Any]"], "NDArray[Any]"]
"""Makes one array of those of all processes."""


class Points(NamedTuple):
    """The points of one curve: the different scores of labels, highest first, and what is counted at each."""

    thresholds: NDArray[np.floating]
    true_positives: NDArray[np.int64]  # labels at or above it
    predicted: NDArray[np.int64]  # scores at or above it
    above: NDArray[np.int64]  # scores above it
    below: NDArray[np.floating]  # the next lower score; minus infinity if there is none


def count_together(pairs: Pairs, *, ties: bool = False) -> Points:
    """Count the scores of all classes together; ``above`` and ``below`` only with ``ties``."""
    labels = _collect(pairs, apart=False)
    first = _find_first(labels)
    counted = _count(labels[first], pairs, apart=False, ties=ties)
    cells = pairs.truth.shape[0] * pairs.truth.shape[1]
    return _descend(labels[first], len(labels) - first, cells - counted.under, cells - counted.up_to, counted.below)


def count_divided(pairs: Pairs, join: Exchange, add: Exchange) -> Points:
    """Count as `count_together` does without ties, where each of several processes has some of the rows.

    ``join`` concatenates the arrays of all processes, and ``add`` adds them up: they exchange the scores of labels and
    counts, and no other scores.
    """
    labels = np.sort(join(_collect(pairs, apart=False)))
    first = _find_first(labels)
    counted = _count(labels[first], pairs, apart=False, ties=False)
    cells = add(np.array([pairs.truth.shape[0] * pairs.truth.shape[1]]))
    return _descend(
        labels[first], len(labels) - first, cells - add(counted.under), cells - counted.up_to, counted.below
    )


def count_apart(pairs: Pairs, *, ties: bool = False) -> Iterator[tuple[int, Points]]:
    """Yield each class that has a label, with its points."""
    sizes = np.bincount(pairs.truth.indices, minlength=pairs.truth.shape[1])
    classes = np.flatnonzero(sizes)
    if not len(classes):
        return
    pairs = pairs.restrict(classes)
    labels = _collect(pairs, apart=True)
    first = _find_first(labels)
    keys = labels[first]
    counted = _count(keys, pairs, apart=True, ties=ties)
    group = keys.real.astype(np.int64)
    cells = pairs.truth.shape[0] * (group + 1)  # of the class and of all classes before it
    true_positives = np.cumsum(sizes[classes])[group] - first
    parts = (keys.imag, true_positives, cells - counted.under, cells - counted.up_to, counted.below)
    ends = np.searchsorted(group, np.arange(len(classes)), side="right").tolist()
    start = 0
    for at, end in zip(classes.tolist(), ends, strict=True):
        yield at, _descend(*(part[start:end] for part in parts))
        start = end


def _descend(*parts: NDArray[Any]) -> Points:
    return Points(*(part[::-1] for part in parts))


class _Counted(NamedTuple):
    under: NDArray[np.int64]  # scores under each threshold
    up_to: NDArray[np.int64]  # scores at or under it
    below: NDArray[np.floating]


def _count(keys: NDArray[Any], pairs: Pairs, *, apart: bool, ties: bool) -> _Counted:
    """Look up sorted keys in all scores."""
    under, up_to = np.zeros((2, len(keys)), dtype=np.int64)
    below = np.full(len(keys), -np.inf, dtype=keys.real.dtype)
    for _, values in pairs.iterate():
        ordered = _sort(values, apart=apart)
        place = np.searchsorted(ordered, keys)
        under += place
        if ties:
            up_to += np.searchsorted(ordered, keys, side="right")
            lower = ordered[np.maximum(place - 1, 0)]
            found = (place > 0) & ((lower.real == keys.real) if apart else True)
            np.maximum(below, lower.imag if apart else lower, out=below, where=found)
    return _Counted(under, up_to, below)


def _collect(pairs: Pairs, *, apart: bool) -> NDArray[Any]:
    """Return the sorted keys of all labels: their scores, or pairs of class and score."""
    found = []
    for rows, values in pairs.iterate():
        row, column = pairs.locate(rows)
        found.append(_join(column, values[row, column]) if apart else values[row, column])
    return np.sort(np.concatenate(found))


def _find_first(ordered: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position of the first of equal keys."""
    return np.flatnonzero(np.concatenate([np.ones(min(len(ordered), 1), dtype=np.bool_), ordered[1:] != ordered[:-1]]))


def _sort(values: NDArray[np.floating], *, apart: bool) -> NDArray[Any]:
    """Return the sorted keys of a block of scores (rows, classes)."""
    if not apart:
        return np.sort(values, axis=None)
    by_class = values.T.copy()
    by_class.sort(axis=1)
    return _join(np.arange(len(by_class))[:, None], by_class).ravel()


def _join(classes: NDArray[np.integer], scores: NDArray[np.floating]) -> NDArray[np.complexfloating]:
    """Return keys in the order of classes, and within a class of scores: numpy sorts complex numbers that way."""
    keys = np.empty(scores.shape, dtype=np.result_type(scores, np.complex64))  # exact for up to 2 ** 24 classes
    keys.real, keys.imag = classes, scores
    return keys

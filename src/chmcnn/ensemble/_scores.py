"""Scores of several members for the same rows, some rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from chmcnn._typing import ScoresLike

    Blocks = Iterable[NDArray[np.float32]]


def iterate_blocks(scores: ScoresLike) -> Iterator[NDArray[np.float32]]:
    """Yield blocks of scores (rows, classes): of a matrix, of a list, or of what a function returns."""
    blocks = scores() if callable(scores) else scores
    for block in [blocks] if hasattr(blocks, "shape") else blocks:
        values = block.detach().cpu().numpy() if isinstance(block, torch.Tensor) else np.asarray(block)
        yield values.astype(np.float32, copy=False)


def iterate_together(members: Sequence[Blocks]) -> Iterator[NDArray[np.float32]]:
    """Yield blocks (members, rows, classes) of the scores of all members, whose own blocks may differ in size.

    >>> matrix = np.arange(6, dtype=np.float32).reshape(3, 2)
    >>> [block.shape for block in iterate_together([[matrix[:1], matrix[1:]], [matrix[:2], matrix[2:]]])]
    [(2, 1, 2), (2, 1, 2), (2, 1, 2)]
    """
    sources = [filter(len, blocks) for blocks in members]
    parts = [next(source, None) for source in sources]
    while True:
        present = [part for part in parts if part is not None]
        if len(present) < len(parts):
            return
        size = min(map(len, present))
        yield np.stack([part[:size] for part in present])
        parts = [
            part[size:] if len(part) > size else next(source, None)
            for part, source in zip(present, sources, strict=True)
        ]


def average(scores: Sequence[NDArray[np.float32]], weights: Iterable[float]) -> NDArray[np.float32]:
    """Return the weighted mean of coherent scores, which is coherent: rounding keeps the order of any two of them."""
    total = np.zeros_like(scores[0], dtype=np.float32)
    for part, weight in zip(scores, weights, strict=True):
        total += np.float32(weight) * part
    return np.minimum(total, 1, out=total)


def measure_disagreement(scores: Sequence[NDArray[np.float32]], weights: Sequence[float]) -> NDArray[np.float32]:
    """Return the weighted standard deviation of the scores of the members (rows, classes).

    >>> measure_disagreement([np.array([[0.2, 0.5]]), np.array([[0.8, 0.5]])], [0.5, 0.5]).round(2)
    array([[0.3, 0. ]], dtype=float32)
    """
    mean, total = average(scores, weights), np.zeros_like(scores[0], dtype=np.float32)
    for part, weight in zip(scores, weights, strict=True):
        total += np.float32(weight) * (part - mean) ** 2
    return np.sqrt(total, out=total)

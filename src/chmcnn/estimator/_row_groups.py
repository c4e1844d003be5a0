"""Training on Parquet files that need not fit into memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from scipy import sparse

from chmcnn._wording import count
from chmcnn.datasets.dataset import Table
from chmcnn.datasets.one_pass import OnePass
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.errors import ChmcnnError
from chmcnn.training import Ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn.datasets.row_groups import RowGroup, RowGroups
    from chmcnn.estimator._transformers import CustomPreprocessor

    _Part = tuple[Tensor, sparse.csr_array]


class WindowedBatches:
    """Batches of rows that are shuffled within a window; torch's seed decides their order.

    The order of the groups is shuffled as well. Labels are sparse in the window, and dense in a batch.
    """

    def __init__(
        self,
        rows: RowGroups,
        held_out: dict[RowGroup, NDArray[np.bool_]],
        preprocess: Callable[[pd.DataFrame], Any],  # gives a tensor: nothing is sparse
        batch_size: int,
    ) -> None:
        self.rows, self.held_out, self.preprocess, self.batch_size = rows, held_out, preprocess, batch_size

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        rows = sum(int((~mask).sum()) for mask in self.held_out.values())
        return math.ceil(rows / self.batch_size)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the batches of one epoch."""
        return self.divide(Ranks())

    def divide(self, ranks: Ranks) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield batches of the groups that one process has in one epoch; those of all processes add up to whole ones.

        All processes draw the same order of the groups, and each reads only its own.
        """
        if len(self.rows.groups) < ranks.size:
            raise ChmcnnError(
                f"There are {ranks.size} processes, but the files have {count(len(self.rows.groups), 'row group')}: "
                "write them with smaller row groups, or start fewer processes."
            )
        random = np.random.default_rng(int(torch.randint(2**62, ()).item()))
        size = len(ranks.take(range(self.batch_size)))
        parts: list[_Part] = []
        held = 0
        for table in self._read(ranks.take(random.permutation(len(self.rows.groups)))):
            parts.append((self.preprocess(table.X), table.Y))
            held += len(table)
            if held >= self.rows.window:
                x, y = _concatenate(parts)
                order = random.permutation(held)
                rest = order[held - held % size :]
                yield from _cut(x, y, order[: held - len(rest)], size)
                parts, held = [(x[rest], y[rest])], len(rest)
        if held:
            yield from _cut(*_concatenate(parts), random.permutation(held), size)

    def _read(self, order: NDArray[np.int64]) -> Iterator[Table]:
        """Yield the training rows of the groups, in an order."""
        for number in order.tolist():
            group = self.rows.groups[number]
            for place, table in self.rows.read(group):
                kept = np.flatnonzero(~self.held_out[group][place])
                if len(kept):
                    yield table.take(kept)


def _cut(x: Tensor, y: sparse.csr_array, order: NDArray[np.int64], size: int) -> Iterator[tuple[Tensor, Tensor]]:
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        yield x[chosen], torch.from_numpy(y[chosen].toarray())


def _concatenate(parts: list[_Part]) -> _Part:
    return torch.cat([x for x, _ in parts]), sparse.vstack([y for _, y in parts], format="csr")


def learn_preprocessing(
    rows: RowGroups, held_out: dict[RowGroup, NDArray[np.bool_]], preprocessor: Preprocessor | CustomPreprocessor
) -> tuple[Preprocessor, Table | None]:
    """Learn the preprocessing from training rows, and collect the rows that are held out, in one pass."""
    if not isinstance(preprocessor, Preprocessor):
        raise ChmcnnError("preprocess= is a transformer, which files cannot be streamed through: use True or False.")
    one_pass, kept = OnePass(), []
    for group in rows.groups:
        for place, table in rows.read(group):
            mask = held_out[group][place]
            one_pass.add(table.X[~mask])
            if mask.any():
                kept.append(table.take(np.flatnonzero(mask)))
    fitted = one_pass.create(standardise=preprocessor.standardise)
    if not kept:
        return fitted, None
    features = pd.concat([table.X for table in kept], ignore_index=rows.id_column is None)
    labels = sparse.vstack([table.Y for table in kept], format="csr")
    return fitted, Table(features, labels, rows.hierarchy)

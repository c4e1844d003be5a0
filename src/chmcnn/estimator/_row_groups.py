"""Training on Parquet files that need not fit into memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
from scipy import sparse

from chmcnn._wording import count
from chmcnn.datasets.dataset import Table
from chmcnn.datasets.one_pass import OnePass, SparsePasses
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.errors import ChmcnnError
from chmcnn.training import ALONE, Ranks, Rows, RowSource, join_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn.datasets.row_groups import RowGroup, RowGroups
    from chmcnn.estimator._transformers import CustomPreprocessor


class WindowedRows(RowSource):
    """Rows of files of which a window is in memory, and shuffled, at a time; torch's seed decides their order.

    The order of the groups is shuffled as well.
    """

    def __init__(
        self,
        rows: RowGroups,
        held_out: dict[RowGroup, NDArray[np.bool_]],
        preprocessor: Preprocessor,
        prepare: Callable[[Table], Rows],
    ) -> None:
        self.rows, self.held_out, self.preprocessor, self.prepare = rows, held_out, preprocessor, prepare

    def __len__(self) -> int:
        """Count the rows to train on."""
        return sum(int((~mask).sum()) for mask in self.held_out.values())

    def identify(self) -> tuple[Tensor, ...]:
        """Return what the order of the rows depends on, and what was learned from all of them, such as words."""
        groups = [(group.path.name, group.number, group.rows) for group in self.rows.groups]
        names = self.preprocessor.get_feature_names_out().tolist()
        facts = json.dumps([self.rows.window, groups, names]).encode()
        learned = (self.preprocessor.means_, self.preprocessor.scales_)
        return torch.frombuffer(bytearray(facts), dtype=torch.uint8), *map(torch.from_numpy, learned)

    def batches(
        self, size: int, device: torch.device | str = "cpu", *, keep_sparse: bool = False, ranks: Ranks = ALONE
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield batches of the groups that one process has in one epoch; those of all processes add up to whole ones.

        All processes draw the same order of the groups, and each reads only its own.
        """
        if len(self.rows.groups) < ranks.size:
            raise ChmcnnError(
                f"There are {ranks.size} processes, but the files have {count(len(self.rows.groups), 'row group')}: "
                "write them with smaller row groups, or start fewer processes."
            )
        random = np.random.default_rng(int(torch.randint(2**62, ()).item()))
        share = len(ranks.take(range(size)))
        order = ranks.take(random.permutation(len(self.rows.groups)))
        for window, places in self._shuffle(order, share, random):
            for start in range(0, len(places), share):
                rows = torch.from_numpy(places[start : start + share])
                yield window.select(rows, device, keep_sparse=keep_sparse)
            del window  # before the next one is read

    def _shuffle(
        self, order: NDArray[np.int64], share: int, random: np.random.Generator
    ) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
        """Yield windows, each with the order of its rows; what is left of the last batch goes to the next window."""
        parts: list[Rows] = []
        held = 0
        for table in _read_training_rows(self.rows, self.held_out, order.tolist()):
            parts.append(self.prepare(table))
            held += len(table)
            if held >= self.rows.window:
                window, places = join_rows(parts), random.permutation(held)
                rest = places[held - held % share :]
                places = places[: held - len(rest)]
                parts, held = [window.take(rest)], len(rest)
                yield window, places
                del window
        if held:
            yield join_rows(parts), random.permutation(held)


def _read_training_rows(
    rows: RowGroups, held_out: dict[RowGroup, NDArray[np.bool_]], order: Iterable[int]
) -> Iterator[Table]:
    """Yield the rows of some groups that are not held out."""
    for number in order:
        group = rows.groups[number]
        for place, table in rows.read(group):
            kept = np.flatnonzero(~held_out[group][place])
            if len(kept):
                yield table.take(kept)


def learn_preprocessing(
    rows: RowGroups, held_out: dict[RowGroup, NDArray[np.bool_]], preprocessor: Preprocessor | CustomPreprocessor
) -> tuple[Preprocessor, Table | None]:
    """Learn the preprocessing from training rows, and collect the rows that are held out."""
    if not isinstance(preprocessor, Preprocessor):
        raise ChmcnnError("preprocess= is a transformer, which files cannot be streamed through: use True or False.")
    learner = OnePass() if rows.features is None else SparsePasses(rows.features)
    kept = []
    for group in rows.groups:
        for place, table in rows.read(group):
            mask = held_out[group][place]
            if not mask.all():
                learner.add(table.X[~mask])
            if mask.any():
                kept.append(table.take(np.flatnonzero(mask)))
    if isinstance(learner, SparsePasses) and preprocessor.standardise:
        for table in _read_training_rows(rows, held_out, range(len(rows.groups))):
            learner.add_lengths(table.X)
    fitted = learner.create(standardise=preprocessor.standardise)
    if not kept:
        return fitted, None
    return fitted, _join_tables(kept, has_names=rows.id_column is not None)


def _join_tables(tables: list[Table], *, has_names: bool) -> Table:
    parts = [table.X for table in tables]
    is_frame = isinstance(parts[0], pd.DataFrame)
    features = pd.concat(parts, ignore_index=not has_names) if is_frame else sparse.vstack(parts, format="csr")
    return Table(features, sparse.vstack([table.Y for table in tables], format="csr"), tables[0].hierarchy)

"""Data from a torch `Dataset` or `DataLoader`, which need not fit into memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, random_split

from chmcnn.constraint import max_constraint
from chmcnn.errors import ChmcnnError, LabelError
from chmcnn.hierarchy import dense_label_matrix
from chmcnn.training import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chmcnn.hierarchy import Hierarchy

_ROWS_AT_ONCE = 1024


def is_stream(X: Any) -> bool:  # noqa: ANN401
    """Whether this gives rows one by one, or by batches."""
    return isinstance(X, Dataset | DataLoader)


@dataclass(frozen=True, slots=True)
class Stream:
    """Batches of features and of labels with all ancestors, as often as they are asked for."""

    data: Any  # a Dataset or a DataLoader of pairs
    hierarchy: Hierarchy
    batch_size: int

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        """One epoch; a Dataset is shuffled by torch's seed."""
        return self._batches(shuffle=True)

    def _batches(self, *, shuffle: bool) -> Iterator[tuple[Tensor, Tensor]]:
        for number, batch in enumerate(_loader(self.data, self.batch_size, shuffle=shuffle)):
            if not isinstance(batch, tuple | list) or len(batch) != 2:
                raise ChmcnnError(f"Batch {number} is a {type(batch).__name__}; expected a pair (features, labels).")
            yield batch[0].float(), self._closed(batch[1], number)

    def __len__(self) -> int:
        """Number of batches, where it is known."""
        return len(_loader(self.data, self.batch_size, shuffle=True))

    def divided(self, given: Any, share: float, seed: int) -> tuple[Stream, Rows | None]:  # noqa: ANN401
        """What to train on, and validation rows: those given, or a share of a Dataset that has a length."""
        if is_stream(given):
            return self, replace(self, data=given).collected()
        if given is not None:
            return self, Rows(_in_memory(given[0]), torch.tensor(dense_label_matrix(given[1], self.hierarchy)))
        if isinstance(self.data, DataLoader | IterableDataset) or not hasattr(self.data, "__len__") or not share:
            return self, None
        if not len(self.data):
            raise ChmcnnError("The Dataset is empty; expected at least one row.")
        train, held = random_split(self.data, [1 - share, share], torch.Generator().manual_seed(seed))
        return replace(self, data=train), replace(self, data=held).collected() if len(held) else None

    def collected(self) -> Rows:
        """All rows at once."""
        pairs = list(self._batches(shuffle=False))
        if not pairs:
            raise ChmcnnError("The data gives no batch; expected at least one row.")
        return Rows(torch.cat([x for x, _ in pairs]), torch.cat([y for _, y in pairs]))

    def feature_shape(self) -> tuple[int, ...]:
        """The shape of the features of one row."""
        for x, _ in self._batches(shuffle=False):
            return tuple(x.shape[1:])
        raise ChmcnnError("The data gives no batch; expected at least one row.")

    def _closed(self, y: Tensor, number: int) -> Tensor:
        if not isinstance(y, Tensor) or y.ndim != 2 or y.shape[1] != len(self.hierarchy):
            kind = f"have shape {tuple(y.shape)}" if isinstance(y, Tensor) else f"are of type {type(y).__name__}"
            raise LabelError(
                f"Labels of batch {number} {kind}; expected 0 and 1 of shape (rows, {len(self.hierarchy)}), in the "
                "order of hierarchy.classes."
            )
        wrong = y[(y != 0) & (y != 1)]
        if len(wrong):
            raise LabelError(f"Labels of batch {number} have the value {wrong[0].item()}; expected 0 and 1.")
        return max_constraint(y.float(), self.hierarchy).bool()


def inputs(X: Any, shape: tuple[int, ...]) -> Iterator[Tensor]:  # noqa: ANN401
    """Features to predict, by batches: of a Dataset or DataLoader, of pairs or of features alone, or in memory."""
    if is_stream(X):
        given = _loader(X, _ROWS_AT_ONCE, shuffle=False)
        batches = ((batch[0] if isinstance(batch, tuple | list) else batch).float() for batch in given)
    else:
        batches = iter(_in_memory(X).split(_ROWS_AT_ONCE))
    for batch in batches:
        if tuple(batch.shape[1:]) != shape:
            raise ChmcnnError(f"A row of X has shape {tuple(batch.shape[1:])}; expected {shape}, as for training.")
        yield batch


def _in_memory(X: Any) -> Tensor:  # noqa: ANN401
    return X.float() if isinstance(X, Tensor) else torch.from_numpy(np.asarray(X, dtype=np.float32))


def _loader(data: Any, batch_size: int, *, shuffle: bool) -> DataLoader[Any]:  # noqa: ANN401
    if isinstance(data, DataLoader):
        return data
    return DataLoader(data, batch_size, shuffle=shuffle and not isinstance(data, IterableDataset))

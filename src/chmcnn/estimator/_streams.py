"""Data from a torch `Dataset` or `DataLoader`, which need not fit into memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import sparse
from sklearn.utils.validation import _num_samples
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, SequentialSampler, random_split

from chmcnn.constraint import max_constraint
from chmcnn.errors import ChmcnnError, LabelError
from chmcnn.hierarchy import label_matrix
from chmcnn.training import Ranks, Rows, as_loader, divide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chmcnn._typing import Features
    from chmcnn.hierarchy import Hierarchy

_ROWS_AT_ONCE = 1024


def is_stream(X: Features) -> bool:
    """Return whether X is a Dataset or a DataLoader."""
    return isinstance(X, Dataset | DataLoader)


def count_rows(X: Features) -> int | None:
    """Return the number of rows, also of a Dataset or a DataLoader; None where it is not known."""
    _refuse_unordered(X)
    data = X.dataset if isinstance(X, DataLoader) else X
    if is_stream(X) and (not hasattr(data, "__len__") or (data is not X and X.batch_sampler is None)):
        return None  # of data without a length, or with batches of its own
    rows: int = _num_samples(data)
    return rows


@dataclass(frozen=True, slots=True)
class Stream:
    """Batches of features, and of labels with all ancestors, from a Dataset or a DataLoader."""

    data: Any  # a Dataset or a DataLoader of pairs
    hierarchy: Hierarchy
    batch_size: int
    floats: bool = True  # whether integers become floats, as the default network needs

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the batches of one epoch; a Dataset is shuffled by torch's seed."""
        return self.divide(Ranks())

    def divide(self, ranks: Ranks) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the share that one process has of the batches of one epoch."""
        return self._check(divide(self.data, self.batch_size, ranks))

    def _in_order(self) -> Iterator[tuple[Tensor, Tensor]]:
        return self._check(as_loader(self.data, self.batch_size, shuffle=False))

    def _check(self, batches: Iterable[Any]) -> Iterator[tuple[Tensor, Tensor]]:
        for number, batch in enumerate(batches):
            if not isinstance(batch, tuple | list) or len(batch) != 2:
                raise ChmcnnError(f"Batch {number} is a {type(batch).__name__}; expected a pair (features, labels).")
            yield self._convert(batch[0], number), self._close(batch[1], number)

    def _convert(self, x: Tensor, number: int) -> Tensor:
        if not isinstance(x, Tensor):
            kind = type(x).__name__
            raise ChmcnnError(f"Features of batch {number} are of type {kind}; expected a tensor for each row.")
        return x.float() if self.floats or not _is_integer(x.dtype) else x

    def __len__(self) -> int:
        """Number of batches, where it is known."""
        return len(as_loader(self.data, self.batch_size, shuffle=True))

    def split(self, validation_data: Features, share: float, seed: int) -> tuple[Stream, Rows | None]:
        """Return training data and validation rows: those passed, or a share of a Dataset that has a length."""
        if is_stream(validation_data):
            return self, replace(self, data=validation_data).collect()
        if validation_data is not None:
            X, y = validation_data
            kind = torch.float32 if self.floats else self.describe_features()[1]
            return self, Rows(_in_memory(X, kind), label_matrix(y, self.hierarchy))
        if isinstance(self.data, DataLoader | IterableDataset) or not hasattr(self.data, "__len__") or not share:
            return self, None
        if not len(self.data):
            raise ChmcnnError("The Dataset is empty; expected at least one row.")
        train, held = random_split(self.data, [1 - share, share], torch.Generator().manual_seed(seed))
        return replace(self, data=train), replace(self, data=held).collect() if len(held) else None

    def collect(self) -> Rows:
        """Read all rows into memory."""
        pairs = [(x, sparse.csr_array(y.numpy(force=True))) for x, y in self._in_order()]
        if not pairs:
            raise ChmcnnError("The data gives no batch; expected at least one row.")
        return Rows(torch.cat([x for x, _ in pairs]), sparse.vstack([y for _, y in pairs], format="csr"))

    def describe_features(self) -> tuple[tuple[int, ...], torch.dtype]:
        """Return the shape and the type of the features of one row."""
        for x, _ in self._in_order():
            return tuple(x.shape[1:]), x.dtype
        raise ChmcnnError("The data gives no batch; expected at least one row.")

    def _close(self, y: Tensor, number: int) -> Tensor:
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


def inputs(X: Features, shape: tuple[int, ...], kind: torch.dtype) -> Iterator[Tensor]:
    """Yield batches of features: from a Dataset or DataLoader, of pairs or of features alone, or from memory."""
    if is_stream(X):
        _refuse_unordered(X)
        loader = as_loader(X, _ROWS_AT_ONCE, shuffle=False)
        batches = (_to_type(batch[0] if isinstance(batch, tuple | list) else batch, kind) for batch in loader)
    else:
        batches = iter(_in_memory(X, kind).split(_ROWS_AT_ONCE))
    for batch in batches:
        if tuple(batch.shape[1:]) != shape:
            raise ChmcnnError(f"A row of X has shape {tuple(batch.shape[1:])}; expected {shape}, as for training.")
        yield batch


def _refuse_unordered(X: Features) -> None:
    """Refuse a DataLoader that does not yield all rows in their order: nobody could tell whose scores are whose."""
    if not isinstance(X, DataLoader) or isinstance(X.dataset, IterableDataset):
        return
    batches = X.batch_sampler
    samplers = [X.sampler] if batches is None else [X.sampler, getattr(batches, "sampler", None)]
    if not all(isinstance(each, SequentialSampler) for each in samplers) or getattr(batches, "drop_last", False):
        raise ChmcnnError(
            "The DataLoader may shuffle rows or leave some out: pass its Dataset, or one without shuffle=, drop_last= "
            "and samplers."
        )


def _in_memory(X: Features, kind: torch.dtype) -> Tensor:
    return _to_type(X if isinstance(X, Tensor) else torch.tensor(np.asarray(X)), kind)


def _to_type(x: Tensor, kind: torch.dtype) -> Tensor:
    """Return features in the type of the training; refuse to cut off fractions."""
    if _is_integer(kind) and not _is_integer(x.dtype):
        raise ChmcnnError(f"X has numbers of type {x.dtype}; expected integers, as for training.")
    return x.to(kind)


def _is_integer(kind: torch.dtype) -> bool:
    return not (kind.is_floating_point or kind.is_complex or kind == torch.bool)

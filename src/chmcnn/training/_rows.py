"""Rows to train on: in memory, some at a time, or from a torch Dataset or DataLoader."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from scipy.sparse import csr_array, vstack
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, Dataset, DistributedSampler, IterableDataset, RandomSampler

from chmcnn.errors import ChmcnnError
from chmcnn.metrics import CELLS_IN_MEMORY
from chmcnn.nn import to_sparse_tensor
from chmcnn.training._ranks import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from chmcnn.training._ranks import Ranks

Batches: TypeAlias = Any
"""Training data: `RowSource`, a torch Dataset or DataLoader of pairs (x, y), or any iterable of batches of them."""
Matrix: TypeAlias = Tensor | csr_array
"""Features of rows, (rows, features); batches of a sparse matrix become tensors one at a time."""
_ROWS_AT_ONCE = 4096
"""Most rows of a forward pass that needs no gradient."""
_CELLS_AT_ONCE = 1 << 24
"""Most pairs of a row and a class of such a pass: 64 MiB of scores."""


class RowSource(ABC):
    """Rows that can be counted, and that divide themselves into batches."""

    __slots__ = ()

    @abstractmethod
    def __len__(self) -> int:
        """Count the rows."""

    @abstractmethod
    def batches(
        self, size: int, device: torch.device | str = "cpu", *, keep_sparse: bool = False, ranks: Ranks = ALONE
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the shuffled batches of one epoch; those of a sparse matrix are dense, or CSR tensors.

        Each process gets its share of each batch.
        """

    @abstractmethod
    def identify(self) -> tuple[Matrix, ...]:
        """Return values that other rows do not have: a training resumes only with the same ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows(RowSource):
    """Features and labels in memory: memory grows with the labels, not with rows times classes.

    For a training, dense features are on its device. The labels of a batch become dense there, one batch at a time.
    """

    x: Matrix  # (rows, features)
    y: csr_array  # (rows, classes), boolean, with all ancestors

    def __len__(self) -> int:
        """Count the rows."""
        return int(self.y.shape[0])

    def batches(
        self, size: int, device: torch.device | str = "cpu", *, keep_sparse: bool = False, ranks: Ranks = ALONE
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the shuffled batches of one epoch."""
        for rows in map(ranks.take, torch.randperm(len(self)).split(size)):
            if len(rows):
                yield self.select(rows, device, keep_sparse=keep_sparse)

    def identify(self) -> tuple[Matrix, ...]:
        """Return features and labels."""
        return self.x, self.y

    def select(self, rows: Tensor, device: torch.device | str, *, keep_sparse: bool) -> tuple[Tensor, Tensor]:
        """Return the batch of the rows at some positions."""
        return _select(self.x, rows, device, keep_sparse=keep_sparse), _select_labels(self.y, rows, device)

    def take(self, rows: NDArray[np.int64]) -> Rows:
        """Return the rows at some positions."""
        return Rows(self.x[rows], self.y[rows])

    def to(self, device: torch.device | str) -> Rows:
        """Return the rows with dense features on another device."""
        return Rows(self.x.to(device) if isinstance(self.x, Tensor) else self.x, self.y)

    def concatenate(self, other: Rows) -> Rows:
        """Return these rows, followed by the others."""
        return join_rows([self, other])

    @property
    def features(self) -> NDArray[np.float64] | csr_array:
        """The features, for libraries that take numpy and scipy."""
        return self.x.numpy(force=True) if isinstance(self.x, Tensor) else self.x

    def arrays(self) -> tuple[NDArray[np.float64] | csr_array, NDArray[np.bool_]]:
        """Return features and dense labels, for libraries that take no sparse ones."""
        return self.features, self.y.toarray()


def join_rows(parts: Sequence[Rows]) -> Rows:
    """Return rows that follow each other as one."""
    x: Any = [part.x for part in parts]
    joined = torch.cat(x) if isinstance(x[0], Tensor) else vstack(x, format="csr")
    return Rows(joined, vstack([part.y for part in parts], format="csr"))


def accepts_sparse(network: object) -> bool:
    """Return whether a network takes batches of a sparse matrix as CSR tensors, as `chmcnn.nn.SparseMLP` does."""
    return bool(getattr(network, "accepts_sparse", False))


def _select(x: Matrix, rows: Tensor, device: torch.device | str, *, keep_sparse: bool) -> Tensor:
    """Return some rows of features as a tensor."""
    if isinstance(x, Tensor):
        return x[rows.to(x.device)]
    selected = x[rows.numpy()]
    return (to_sparse_tensor(selected) if keep_sparse else torch.from_numpy(selected.toarray())).to(
        device, torch.float32
    )


def _select_labels(y: csr_array, rows: Tensor, device: torch.device | str) -> Tensor:
    """Return the labels of some rows as a dense boolean tensor; only the places of labels go to the device."""
    chosen = rows.numpy()
    starts, counts = y.indptr[chosen].astype(np.int64), y.indptr[chosen + 1] - y.indptr[chosen]
    ends = counts.cumsum()
    # The labels of the rows one after the other: each row goes on where the last one ends.
    places = np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)
    cells = y.indices[places] + np.repeat(np.arange(len(chosen)) * y.shape[1], counts)
    dense = torch.zeros(len(chosen) * y.shape[1], dtype=torch.bool, device=device)
    dense[torch.from_numpy(cells).to(device)] = True
    return dense.view(len(chosen), -1)


def iterate_outputs(
    network: Callable[[Tensor], Tensor],
    x: Matrix,
    device: torch.device | str,
    *,
    classes: int,
    keep_sparse: bool = False,
) -> Iterator[Tensor]:
    """Yield the outputs of a network for some rows at a time, which bounds the memory of rows times classes.

    ``keep_sparse`` passes rows of a sparse matrix as CSR tensors, not as dense ones.
    """
    size = min(max(1, _CELLS_AT_ONCE // classes), _ROWS_AT_ONCE)
    for rows in torch.arange(x.shape[0]).split(size):
        with torch.inference_mode():
            outputs = network(_select(x, rows, device, keep_sparse=keep_sparse))
        yield outputs


def predict(
    network: Callable[[Tensor], Tensor],
    x: Matrix,
    device: torch.device | str,
    *,
    classes: int,
    keep_sparse: bool = False,
) -> Tensor:
    """Return the outputs of a network for all rows in memory: see `iterate_outputs`."""
    blocks = iterate_outputs(network, x, device, classes=classes, keep_sparse=keep_sparse)
    return join_blocks(blocks, x.shape[0])


def score_blocks(
    scores: Callable[[Tensor], Tensor], rows: Rows, device: torch.device | str, *, keep_sparse: bool = False
) -> list[Tensor] | Callable[[], Iterator[Tensor]]:
    """Return blocks of scores (rows, classes) of labelled rows, for measures, which may read them several times.

    If all of them fit into memory, they are computed once, and otherwise each time that they are read.
    """
    classes = int(rows.y.shape[1])
    compute = partial(iterate_outputs, scores, rows.x, device, classes=classes, keep_sparse=keep_sparse)
    return list(compute()) if len(rows) * classes <= CELLS_IN_MEMORY else compute


def join_blocks(blocks: Iterator[Tensor], rows: int) -> Tensor:
    """Return blocks of rows as one tensor; at no time are there two copies of all of it."""
    first = next(blocks)
    if len(first) == rows:
        return first
    joined, start = first.new_empty((rows, *first.shape[1:])), 0
    for block in chain([first], blocks):
        joined[start : start + len(block)] = block
        start += len(block)
    return joined


def batches(
    data: Batches, size: int, device: torch.device | str, *, keep_sparse: bool = False, ranks: Ranks = ALONE
) -> Iterable[tuple[Tensor, Tensor]]:
    """Return the batches of one epoch, on a device: the share that one process has of each."""
    if isinstance(data, RowSource):
        return data.batches(size, device, keep_sparse=keep_sparse, ranks=ranks)
    return ((x.to(device), y.to(device)) for x, y in divide(data, size, ranks))


def divide(data: Batches, size: int, ranks: Ranks) -> Iterable[Any]:
    """Return the share that one process has of each batch of an epoch.

    Data with a method ``divide`` divides itself. Of a Dataset with positions, a process reads its own rows only; of
    others it reads all batches.
    """
    if hasattr(data, "divide"):
        own: Iterable[Any] = data.divide(ranks)
        return own
    if ranks.size == 1:
        return as_loader(data, size, shuffle=True) if isinstance(data, Dataset) else data
    if isinstance(data, Dataset) and not isinstance(data, IterableDataset):
        sized: Any = data
        shares = map(ranks.take, BatchSampler(RandomSampler(sized), size, drop_last=False))
        return DataLoader(data, batch_sampler=filter(None, shares))
    if isinstance(getattr(data, "sampler", None), DistributedSampler):
        raise ChmcnnError("The DataLoader has a DistributedSampler: leave it out, as each batch is divided already.")
    return _cut(as_loader(data, size, shuffle=False) if isinstance(data, Dataset) else data, ranks)


def _cut(batches: Iterable[Any], ranks: Ranks) -> Iterator[Any]:
    """Yield the rows of each batch that one process has; refuse batches that are not the same in all processes."""
    for number, batch in enumerate(batches):
        if not isinstance(batch, tuple | list):
            yield batch  # which is refused later
            continue
        if not number:
            facts = repr([(tuple(part.shape), float(part.double().sum())) for part in batch])
            ranks.require_same({"first batches": facts})
        share = [ranks.take(part) for part in batch]
        if len(share[-1]):
            yield share


def as_loader(data: Dataset[Any] | DataLoader[Any], batch_size: int, *, shuffle: bool) -> DataLoader[Any]:
    """Return a DataLoader as it is, and one over a Dataset; a Dataset without positions cannot be shuffled."""
    if isinstance(data, DataLoader):
        return data
    return DataLoader(data, batch_size, shuffle=shuffle and not isinstance(data, IterableDataset))


def count_steps(data: Batches, batch_size: int) -> int | None:
    """Count the steps of an epoch; None for data without a length."""
    try:
        length = len(data)
    except TypeError:
        return None
    return -(-length // batch_size) if isinstance(data, RowSource | Dataset) else length

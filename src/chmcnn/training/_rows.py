"""Rows to train on: in memory, or from a torch Dataset or DataLoader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from scipy.sparse import csr_array, vstack
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset

from chmcnn.nn import to_sparse_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

Batches: TypeAlias = Any
"""Training data: `Rows`, a torch Dataset or DataLoader of pairs (x, y), or any iterable of batches of them."""
Matrix: TypeAlias = Tensor | csr_array
"""Features of rows, (rows, features); batches of a sparse matrix become tensors one at a time."""
_ROWS_AT_ONCE = 4096
"""Rows of a forward pass that needs no gradient."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Features and labels in memory. For a training they are on its device: batches are cut out of them."""

    x: Matrix  # (rows, features)
    y: Tensor  # (rows, classes), boolean, with all ancestors

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.y)

    def batches(self, size: int, *, keep_sparse: bool = False) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the shuffled batches of one epoch; those of a sparse matrix are dense, or CSR tensors."""
        for rows in torch.randperm(len(self), device=self.y.device).split(size):
            yield _select(self.x, rows, self.y.device, keep_sparse=keep_sparse), self.y[rows]

    def to(self, device: torch.device | str) -> Rows:
        """Return the rows on another device."""
        return Rows(self.x.to(device) if isinstance(self.x, Tensor) else self.x, self.y.to(device))

    def concatenate(self, other: Rows) -> Rows:
        """Return these rows, followed by the others."""
        both: Any = self.x, other.x
        x = torch.cat(both) if isinstance(self.x, Tensor) else vstack(both, format="csr")
        return Rows(x, torch.cat([self.y, other.y]))

    def arrays(self) -> tuple[NDArray[np.float64] | csr_array, NDArray[np.bool_]]:
        """Return features and labels for libraries that take numpy and scipy."""
        return self.x.numpy(force=True) if isinstance(self.x, Tensor) else self.x, self.y.numpy(force=True)


def accepts_sparse(network: object) -> bool:
    """Return whether a network takes batches of a sparse matrix as CSR tensors, as `chmcnn.nn.SparseMLP` does."""
    return bool(getattr(network, "accepts_sparse", False))


def _select(x: Matrix, rows: Tensor, device: torch.device | str, *, keep_sparse: bool) -> Tensor:
    """Return some rows of features as a tensor."""
    if isinstance(x, Tensor):
        return x[rows]
    selected = x[rows.cpu().numpy()]
    return (to_sparse_tensor(selected) if keep_sparse else torch.from_numpy(selected.toarray())).to(
        device, torch.float32
    )


def predict(
    network: Callable[[Tensor], Tensor], x: Matrix, device: torch.device | str, *, keep_sparse: bool = False
) -> Tensor:
    """Return the outputs of a network for rows in memory, computed some thousand rows at a time.

    ``keep_sparse`` passes rows of a sparse matrix as CSR tensors, not as dense ones.
    """
    with torch.inference_mode():
        parts = torch.arange(x.shape[0]).split(_ROWS_AT_ONCE)
        return torch.cat([network(_select(x, rows, device, keep_sparse=keep_sparse)) for rows in parts])


def batches(
    data: Batches, size: int, device: torch.device | str, *, keep_sparse: bool = False
) -> Iterable[tuple[Tensor, Tensor]]:
    """Return the batches of one epoch, on a device."""
    if isinstance(data, Rows):
        return data.batches(size, keep_sparse=keep_sparse)
    loader = as_loader(data, size, shuffle=True) if isinstance(data, Dataset) else data
    return ((x.to(device), y.to(device)) for x, y in loader)


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
    return -(-length // batch_size) if isinstance(data, Rows | Dataset) else length

"""The fingerprint of a training: what a checkpoint must agree with for a training to resume from it."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from chmcnn.constraint import IndexedHierarchy
from chmcnn.training._rows import RowSource
from chmcnn.training._sharding import whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chmcnn.training._loop import Training
    from chmcnn.training._rows import Matrix


_FREE = ("max_minutes", "sharded")
"""Settings that a resumed training may change: with more time it goes on where it stopped."""


def fingerprint(training: Training, system: str) -> dict[str, Any]:
    """Describe a training. Data of a Dataset or DataLoader, and functions, are taken on trust."""
    valid, evaluated = training.validation.rows, training.validation.evaluated
    modules = [part for part in (training.loss, training.validation.scores) if isinstance(part, nn.Module)]
    network = training.state.network
    settings = {name: value for name, value in asdict(training.settings).items() if name not in _FREE}
    if not settings["patience_growth"]:
        del settings["patience_growth"]  # as states of version 0.2.0 have it
    return {
        "settings": settings,
        "training rows": _digest(*training.data.identify()) if isinstance(training.data, RowSource) else None,
        "validation rows": None if valid is None else _digest(valid.x, valid.y),
        "hierarchy": _digest(*(edges for module in modules for edges in _edges(module))),
        "mask or class weights": _digest(*(buffer for module in modules for buffer in module.buffers())),
        "evaluated classes": None if evaluated is None else _digest(torch.tensor(evaluated)),
        "torch": torch.__version__,
        "system": system,
        "network": f"{network!r} {_digest(*map(whole, network.state_dict().values()))}",
    }


def _edges(module: nn.Module) -> Iterator[Tensor]:
    """Yield the edges of each hierarchy inside a module."""
    for part in module.modules():
        if isinstance(part, IndexedHierarchy):
            yield torch.stack([part.edge_parents, part.edge_children])


def _digest(*values: Matrix) -> str:
    digest = hashlib.sha256()
    for value in values:
        for part in _tensors(value):
            digest.update(f"{tuple(part.shape)} {part.dtype}".encode())
            digest.update(part.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _tensors(value: Matrix) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    places = (value.indices.astype(np.int64), value.indptr.astype(np.int64))  # scipy chooses 32 or 64 bits by itself
    return [torch.tensor(value.shape), *map(torch.from_numpy, (np.array(value.data), *places))]

"""Seeds of torch's random numbers."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, SupportsInt

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

_TURN = threading.RLock()


def seed_torch(seed: SupportsInt) -> None:
    """Seed torch as ``torch.manual_seed`` does, but do not prepare for devices that this machine does not have.

    For each kind of them, torch would note down where it was called from: in short epochs this takes longer than much
    of the training.
    """
    if torch.accelerator.is_available():
        torch.manual_seed(int(seed))
    else:
        torch.default_generator.manual_seed(int(seed))


@contextmanager
def fork_seed(device: torch.device | str = "cpu") -> Iterator[None]:
    """Restore torch's random numbers after a block; threads share them, so they take turns."""
    chosen = torch.device(device)
    with _TURN, torch.random.fork_rng(devices=[chosen.index or 0] if chosen.type == "cuda" else []):
        yield

"""The device of a model."""

from __future__ import annotations

import os

import torch

from chmcnn._workers import find_place
from chmcnn.errors import ChmcnnError


def choose_device(name: str) -> str:
    """Return the device of a name; ``"auto"`` is an accelerator if one is available, one for each process."""
    if name != "auto":
        try:
            torch.zeros(1, device=name).item()  # "meta" has no numbers
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            raise ChmcnnError(f"device is {name!r}, which is not available: {str(error).splitlines()[0]}") from None
        return name
    if torch.cuda.is_available():
        return "cuda" if find_place().size == 1 else f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    return "mps" if torch.backends.mps.is_available() else "cpu"

"""The device of a model."""

from __future__ import annotations

import torch

from chmcnn.errors import ChmcnnError


def choose_device(name: str) -> str:
    """Return the device of a name; ``"auto"`` is an accelerator if one is available."""
    if name != "auto":
        try:
            torch.empty(0, device=name)
        except (RuntimeError, AssertionError) as error:
            raise ChmcnnError(f"device is {name!r}, which is not available: {str(error).splitlines()[0]}") from None
        return name
    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"

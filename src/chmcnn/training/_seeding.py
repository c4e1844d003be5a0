"""Seeds of torch's random numbers."""

from typing import SupportsInt

import torch


def seed_torch(seed: SupportsInt) -> None:
    """Seed torch as ``torch.manual_seed`` does, but do not prepare for devices that this machine does not have.

    For each kind of them, torch would note down where it was called from: in short epochs this takes longer than much
    of the training.
    """
    if torch.accelerator.is_available():
        torch.manual_seed(int(seed))
    else:
        torch.default_generator.manual_seed(int(seed))

"""What `torchrun` tells each process that it starts."""

from __future__ import annotations

import os
from typing import NamedTuple

from chmcnn.errors import ChmcnnError

_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


class Place(NamedTuple):
    """The place of a process among those that train together."""

    rank: int = 0  # the first one writes files, shows progress and prints
    size: int = 1


def find_place() -> Place:
    """Return the place of this process among those that torchrun started; one by itself is the first of one."""
    if "RANK" not in os.environ and "WORLD_SIZE" not in os.environ:
        return Place()
    solution = "Start the training with torchrun, or unset RANK and WORLD_SIZE to train with one process."
    missing = [name for name in _VARIABLES if name not in os.environ]
    if missing:
        found = " and ".join(name for name in _VARIABLES if name in os.environ)
        raise ChmcnnError(f"The environment has {found}, but not {' and '.join(missing)}. {solution}")
    rank, size = os.environ["RANK"], os.environ["WORLD_SIZE"]
    if not (rank.isdecimal() and size.isdecimal() and int(rank) < int(size)):
        raise ChmcnnError(f"RANK is {rank!r} and WORLD_SIZE is {size!r}; expected numbers, RANK the lower. {solution}")
    return Place(int(rank), int(size))

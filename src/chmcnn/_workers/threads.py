"""How many threads torch and numpy use."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from chmcnn._workers import processes

if TYPE_CHECKING:
    from collections.abc import Iterator


def share(jobs: int) -> int:
    """How many threads each of so many processes has: its part of the cores, and no more than this one.

    >>> share(1000)
    1
    """
    return max(min(processes.cores() // jobs, torch.get_num_threads()), 1)


@contextmanager
def limited(number: int | None) -> Iterator[None]:
    """Let torch and numpy use so many threads for the length of a block; None changes nothing.

    >>> with limited(1):
    ...     torch.get_num_threads()
    1
    """
    import threadpoolctl

    before = torch.get_num_threads()
    with threadpoolctl.threadpool_limits(number):
        torch.set_num_threads(number or before)
        try:
            yield
        finally:
            torch.set_num_threads(before)

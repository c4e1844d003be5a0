"""How many threads torch and numpy use."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_cores(processes: int) -> int:
    """Return the number of threads for each of several processes: its share of the cores, at most those of this one.

    >>> share_cores(1000)
    1
    """
    import torch

    return max(min(count_cores() // processes, torch.get_num_threads()), 1)


@contextmanager
def limit_threads(number: int | None) -> Iterator[None]:
    """Let torch and numpy use this number of threads inside a block; None changes nothing.

    >>> import torch
    >>> with limit_threads(1):
    ...     torch.get_num_threads()
    1
    """
    import threadpoolctl
    import torch

    before = torch.get_num_threads()
    with threadpoolctl.threadpool_limits(number):
        torch.set_num_threads(number or before)
        try:
            yield
        finally:
            torch.set_num_threads(before)

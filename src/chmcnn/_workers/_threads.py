"""How many threads torch and numpy use, and threads that nobody waits for."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import ThreadPoolExecutor

_abandoned = threading.Event()


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


def abandon(executor: ThreadPoolExecutor) -> None:
    """Begin nothing more, and do not wait for what has begun: nothing can end it before the process ends."""
    _abandoned.set()
    executor.shutdown(wait=False, cancel_futures=True)


def has_abandoned() -> bool:
    """Return whether there may be threads that Python would wait for at its end, and nobody else."""
    return _abandoned.is_set()

"""Blocks of rows on several threads, for compiled loops that run without the global lock.

numba's own threads end the process when two threads start them, or after a fork.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

_CELLS = 1 << 16
"""Cells of a block: some tenths of a millisecond, far more than it takes to wake a thread."""


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="chmcnn")


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_pool.cache_clear)  # the threads stay with the parent


def sum_over_blocks(compute: Callable[[int, int], float], rows: int, classes: int) -> float:
    """Call a function with the first row of each block and the one after it; return the sum of what the calls return.

    It uses as many threads as torch. This thread works too, and does not wait for threads that have not begun, as on a
    busy machine.
    """
    step = max(1, _CELLS // classes)
    if rows <= step:
        return compute(0, rows)
    starts = range(0, rows, step)
    blocks = iter(starts)  # shared: each thread takes the next one
    results = dict.fromkeys(starts, 0.0)  # in this order for any number of threads

    def work() -> None:
        for start in blocks:
            results[start] = compute(start, min(start + step, rows))

    helpers = [_pool().submit(work) for _ in range(min(torch.get_num_threads(), len(starts)) - 1)]
    work()
    for each in helpers:
        if not each.cancel():
            each.result()
    return sum(results.values())

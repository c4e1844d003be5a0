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


def all_blocks(check: Callable[[int, int], bool], rows: int, classes: int) -> bool:
    """Call a function with the first row of each block and the one after it; return whether all calls return True.

    It uses as many threads as torch. This thread works too, and does not wait for threads that have not begun, as on a
    busy machine.
    """
    step = max(1, _CELLS // classes)
    if rows <= step:
        return check(0, rows)
    blocks = iter(range(0, rows, step))  # shared: each thread takes the next one

    def work() -> bool:
        results = [check(start, min(start + step, rows)) for start in blocks]  # all of them, also after a False
        return all(results)

    helpers = [_pool().submit(work) for _ in range(min(torch.get_num_threads(), -(-rows // step)) - 1)]
    results = [work(), *(each.result() for each in helpers if not each.cancel())]
    return all(results)

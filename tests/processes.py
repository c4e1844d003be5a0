"""Processes for tests to kill, or to compare with: torch is imported already, where the system can copy a process."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any


def start(function: Callable[..., object], *arguments: Any) -> BaseProcess:
    """Call a function of a module in a process of its own."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context: Any = multiprocessing.get_context(method)
    process: BaseProcess = context.Process(target=function, args=arguments)
    process.start()
    return process

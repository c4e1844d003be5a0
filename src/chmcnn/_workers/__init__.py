"""Processes and threads of this machine, and executors in general: nothing here knows what is run."""

from chmcnn._workers._executors import iterate_completed, open_executor
from chmcnn._workers._processes import KilledError, ProcessExecutor
from chmcnn._workers._threads import count_cores, limit_threads, share_cores

__all__ = [
    "KilledError",
    "ProcessExecutor",
    "count_cores",
    "iterate_completed",
    "limit_threads",
    "open_executor",
    "share_cores",
]

"""Processes and threads of this machine, and executors in general: nothing here knows what is run."""

from chmcnn._workers._executors import InlineExecutor, Workers, iterate_completed, open_workers
from chmcnn._workers._processes import KilledError, ProcessExecutor
from chmcnn._workers._threads import abandon, count_cores, has_abandoned, limit_threads, share_cores
from chmcnn._workers._torchrun import Place, find_place

__all__ = [
    "InlineExecutor",
    "KilledError",
    "Place",
    "ProcessExecutor",
    "Workers",
    "abandon",
    "count_cores",
    "find_place",
    "has_abandoned",
    "iterate_completed",
    "limit_threads",
    "open_workers",
    "share_cores",
]

"""An executor with a new process for each task: the memory and the death of one process do not affect the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from chmcnn._workers._threads import count_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from types import TracebackType

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_LOCK = threading.Lock()
"""Held to start, end or join a process: multiprocessing loses an exit code that two threads ask for at once."""


class KilledError(RuntimeError):
    """The process of a task ended without a result."""

    def __init__(self, code: int) -> None:
        self.code = code
        killed = f"the process was killed by signal {-code}; the memory may have been too small"
        super().__init__(killed if code < 0 else f"the process ended with code {code}")

    def __reduce__(self) -> tuple[type[Self], tuple[int]]:
        """Pickle the code: a cluster sends errors between machines."""
        return type(self), (self.code,)


class ProcessExecutor(Executor):
    """Run each task in a new process, at most ``max_workers`` at once.

    If a process is killed, its future raises `KilledError`, and the other tasks go on. Ctrl-C reaches this process
    only. The processes end with this one, even if it is killed.

    Parameters
    ----------
    max_workers
        Number of processes at once; by default one for each core.
    preload
        Names of modules that a server imports once, where the system allows it: each process starts as a copy of it.

    Examples
    --------
    >>> with ProcessExecutor(2) as executor:
    ...     executor.submit(sum, [1, 2]).result()
    3
    """

    def __init__(self, max_workers: int | None = None, *, preload: Sequence[str] = ()) -> None:
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        self._context: Any = multiprocessing.get_context(method)
        if method == "forkserver" and preload:
            self._context.set_forkserver_preload(list(preload))
        self._threads = ThreadPoolExecutor(max_workers or count_cores())  # each waits for one process
        self._running: set[BaseProcess] = set()
        self._stopped = False

    def submit(
        self, fn: Callable[_Parameters, _Result], /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> Future[_Result]:
        """Call a function in a process of its own; it, its arguments and its result must be picklable."""
        return self._threads.submit(self._call, partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 -- Executor's
        """Take no more tasks; with ``cancel_futures``, drop those that wait and terminate those that run."""
        self._threads.shutdown(wait=False, cancel_futures=cancel_futures)
        if cancel_futures:
            with _LOCK:
                self._stopped = True
                for process in self._running:
                    process.terminate()
        self._threads.shutdown(wait=wait)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for all tasks; after an error, Ctrl-C included, terminate them."""
        self.shutdown(cancel_futures=kind is not None)

    def _call(self, task: Callable[[], _Result]) -> _Result:
        ours, theirs = self._context.Pipe(duplex=False)
        with ours:
            with theirs:
                process = self._start(theirs, task)
            try:
                answer: tuple[bool, Any] | None = ours.recv()
            except (EOFError, OSError):  # the latter in the middle of an answer
                answer = None
            finally:
                self._join(process)
        if answer is None:
            raise CancelledError if self._stopped else KilledError(process.exitcode or 0)
        succeeded, value = answer
        if not succeeded:
            raise value
        result: _Result = value
        return result

    def _start(self, answer: Connection, task: Callable[[], object]) -> BaseProcess:
        process: BaseProcess = self._context.Process(target=_answer, args=(answer, task))
        with _LOCK:
            if self._stopped:
                raise CancelledError
            process.start()
            self._running.add(process)
        return process

    def _join(self, process: BaseProcess) -> None:
        wait([process.sentinel])  # without the lock: this may take a while
        with _LOCK:
            process.join()
            self._running.discard(process)


def _answer(answer: Connection, task: Callable[[], object]) -> None:
    """Send whether the task succeeded, and its result or error."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which terminates this process
    try:
        message = ForkingPickler.dumps((True, task()))
    except Exception as error:  # noqa: BLE001 -- the parent raises it
        message = ForkingPickler.dumps((False, error))
    answer.send_bytes(message)


def _end_with_parent() -> None:
    """End this process when its parent is killed."""
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)

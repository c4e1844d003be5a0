"""Work in processes, one for each task: what one needs of memory, and what kills one, is no matter of the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_PRELOADED = ["chmcnn.comparison._preload"]
"""What takes long to import: a server does it once, and each process starts as a copy of the server."""


@dataclass(frozen=True, slots=True)
class Killed:
    """A process that ended without a word."""

    code: int

    def __str__(self) -> str:
        """Say why, as far as it is known."""
        if self.code >= 0:
            return f"its process ended with code {self.code}"
        return f"its process was killed by signal {-self.code}; was there enough memory?"


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each(
    tasks: Iterable[Callable[[], Any]], jobs: int, idle: Callable[[], object] | None = None
) -> Iterator[tuple[int, Any]]:
    """Call each task, so many at once; give the number and the result of each as it is done.

    An error of one is raised here, and ends the others. A process that was killed gives a `Killed`. ``idle`` is called
    every second while none is done.
    """
    context: Any = multiprocessing.get_context(_method())
    if _method() == "forkserver":
        context.set_forkserver_preload(_PRELOADED)
    waiting = deque(enumerate(tasks))
    running: dict[Connection, tuple[int, BaseProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                number, task = waiting.popleft()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_answer, args=(theirs, task))
                process.start()
                theirs.close()
                running[ours] = (number, process)
            done = wait(list(running), timeout=1 if idle else None)
            if idle and not done:
                idle()
            for ready in done:
                number, process = running.pop(ready)  # type: ignore[call-overload]  # they are the connections above
                yield number, _received(ready, process)  # type: ignore[arg-type]
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.join()


def _method() -> str:
    return "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


def _answer(answer: Connection, task: Callable[[], Any]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits; it ends this one
    try:
        found = task()
    except Exception as error:  # noqa: BLE001 -- it is raised where it is waited for
        found = error
    answer.send(found)


def _end_with_parent() -> None:
    """Leave nothing running behind a process that was killed."""
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _received(ready: Connection, process: BaseProcess) -> Any:  # noqa: ANN401 -- what the work returns
    try:
        found = ready.recv()
    except EOFError:
        process.join()
        return Killed(process.exitcode or 0)
    finally:
        ready.close()
    process.join()
    if isinstance(found, Exception):
        raise found
    return found

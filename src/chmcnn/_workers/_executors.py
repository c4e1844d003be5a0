"""What works with any `concurrent.futures.Executor`, so that a cluster needs only an executor of its own."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

from chmcnn._workers._processes import ProcessExecutor
from chmcnn._workers._threads import count_cores, share_cores
from chmcnn._workers._torchrun import find_place
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Parameters = ParamSpec("_Parameters")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_AT_ONCE = 100
"""Tasks at once, for an executor that does not say how many workers it has."""


class Workers(NamedTuple):
    """Who executes tasks."""

    executor: Executor
    threads: int | None  # that each task may use; None: as the executor has it
    jobs: int | None = None  # tasks at once; None: as many as the executor has workers

    def limit(self) -> int:
        """Return the most tasks at once; the number grows with a cluster."""
        return max(self.jobs or getattr(self.executor, "_max_workers", _AT_ONCE), 1)


@contextmanager
def open_workers(
    jobs: int | None, executor: Executor | None, *, tasks: int, preload: Sequence[str] = ()
) -> Iterator[Workers]:
    """Yield the workers of an executor, which stays open; or as many local processes, by default one for each core."""
    if find_place().size > 1:
        raise ChmcnnError("torchrun has started several processes, each of which would do all runs; start one process.")
    if executor is not None:
        yield Workers(executor, None, jobs)
        return
    processes = min(jobs or count_cores(), max(tasks, 1))
    with ProcessExecutor(processes, preload=preload) as own:
        yield Workers(own, share_cores(processes), processes)


def iterate_completed(
    take: Callable[[], tuple[_Item, Future[_Result]] | None],
    limit: Callable[[], int],
    *,
    on_idle: Callable[[], object] | None = None,
) -> Iterator[tuple[_Item, Future[_Result]]]:
    """Submit tasks, and yield each with its future when it is completed, until there is none left.

    ``take`` submits the next task, and returns None if there is none now; ``limit`` says how many may run at once.
    ``on_idle`` is called every second in which none is completed. At an early end, tasks that have not started are
    cancelled.
    """
    running: dict[Future[_Result], _Item] = {}
    try:
        while True:
            completed = [future for future in running if future.done()]
            if not completed:
                most = limit()
                while len(running) < most and (taken := take()) is not None:
                    running[taken[1]] = taken[0]
                if not running:
                    return
                completed = list(wait(running, timeout=1, return_when=FIRST_COMPLETED).done)
            if on_idle and not completed:
                on_idle()
            for future in sorted(completed, key=_has_failed):  # an error may end all: it must not cost a result
                yield running.pop(future), future
    finally:
        for future in running:
            future.cancel()


def _has_failed(future: Future[_Result]) -> bool:
    return future.cancelled() or future.exception() is not None


class InlineExecutor(Executor):
    """Calls each task at once, in this thread; an interrupt is raised by ``submit``.

    >>> InlineExecutor().submit(int, "3").result()
    3
    """

    _max_workers = 1

    def submit(
        self, fn: Callable[_Parameters, _Result], /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> Future[_Result]:
        """Return a future that is done."""
        future: Future[_Result] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 -- the future raises it
            future.set_exception(error)
        return future

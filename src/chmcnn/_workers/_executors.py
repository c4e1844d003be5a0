"""What works with any `concurrent.futures.Executor`, so that a cluster needs only an executor of its own."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Executor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from chmcnn._workers._processes import ProcessExecutor
from chmcnn._workers._threads import count_cores, share_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

_Result = TypeVar("_Result")


@contextmanager
def open_executor(
    jobs: int | Executor | None, tasks: int, preload: Sequence[str] = ()
) -> Iterator[tuple[Executor, int | None]]:
    """Yield an executor, and the number of threads that each task may use (None: as the executor has it).

    ``jobs`` is an executor, which stays open, or the number of local processes at once: by default one for each core.
    """
    if isinstance(jobs, Executor):
        yield jobs, None
        return
    processes = min(jobs or count_cores(), max(tasks, 1))
    with ProcessExecutor(processes, preload=preload) as executor:
        yield executor, share_cores(processes)


def iterate_completed(
    executor: Executor, calls: Sequence[Callable[[], _Result]], *, on_idle: Callable[[], object] | None = None
) -> Iterator[tuple[int, Future[_Result]]]:
    """Run all calls; yield the number and the future of each when it is completed.

    ``on_idle`` is called every second in which none is. At an early end, calls that have not started are cancelled.
    """
    numbers = {executor.submit(call): number for number, call in enumerate(calls)}
    pending = set(numbers)
    try:
        while pending:
            completed, pending = wait(pending, timeout=1 if on_idle else None, return_when=FIRST_COMPLETED)
            if on_idle and not completed:
                on_idle()
            yield from sorted(((numbers[future], future) for future in completed), key=lambda pair: pair[0])
    finally:
        for future in pending:
            future.cancel()

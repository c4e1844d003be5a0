"""Many runs: finished ones are read, the others are executed in parallel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from chmcnn._workers import KilledError, iterate_completed, open_executor
from chmcnn.comparison._runs import PlannedRun, Run, find_finished, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor, Future
    from pathlib import Path

PRELOAD = ("chmcnn.comparison._preload",)
"""Modules that the server of worker processes imports once."""


class Progress(Protocol):
    """A function that is called with each result."""

    def __call__(self, run: Run, /, *, fresh: bool) -> object:
        """Take a result, and whether it was computed just now."""


@dataclass(frozen=True, slots=True)
class Execution:
    """How runs are executed and recorded.

    Parameters
    ----------
    jobs
        Number of processes at once; each has its share of the cores. By default one for each core. Or any
        `concurrent.futures.Executor`, which decides itself; it stays open.
    command
        What the user typed; it is stored with each result.
    progress
        Called with each result and ``fresh``, which says whether it was computed just now.
    """

    jobs: int | Executor | None = None
    command: str = ""
    progress: Progress | None = None

    def report(self, result: Run, *, fresh: bool) -> None:
        """Call ``progress``."""
        if self.progress:
            self.progress(result, fresh=fresh)


def iterate_results(
    planned: Sequence[PlannedRun], folder: Path, execution: Execution | None = None
) -> Iterator[tuple[Path, Run]]:
    """Yield each result with the path of its file: finished ones first, those that another process runs last."""
    execution = execution or Execution()
    pending = []
    for item in planned:
        result = find_finished(item, folder)
        if result is None:
            pending.append(item)
            continue
        execution.report(result, fresh=False)
        yield item.spec.path(folder), result
    if not pending:
        return
    with open_executor(execution.jobs, len(pending), PRELOAD) as (executor, threads):
        for wait in (False, True):
            call = partial(run, folder=folder, threads=threads, command=execution.command, wait=wait)
            busy = []
            for number, future in iterate_completed(executor, [partial(call, item) for item in pending]):
                item = pending[number]
                result = _receive(item, future)
                if result is None:
                    busy.append(item)
                    continue
                execution.report(result, fresh=True)
                yield item.spec.path(folder), result
            pending = busy


def _receive(item: PlannedRun, future: Future[Run | None]) -> Run | None:
    try:
        return future.result()
    except KilledError as error:
        return Run(item.spec, item.digest, None, str(error))

"""Many runs: finished ones are read, the others are executed in parallel."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from chmcnn._workers import KilledError, Workers, iterate_completed, open_workers
from chmcnn.comparison._runs import PlannedRun, Run, claim, execute_if_here, find_finished, store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from filelock import BaseFileLock

    from chmcnn.comparison._splits import Source

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
        Number of runs at once. By default one for each core of this machine, or for each worker of the executor.
    command
        What the user typed; it is stored with each result.
    progress
        Called with each result and ``fresh``, which says whether it was computed just now.
    executor
        Executes the runs, in place of processes of this machine, which share the cores: any
        `concurrent.futures.Executor`, such as a `chmcnn.cluster.ClusterExecutor`. It stays open.
    """

    jobs: int | None = None
    command: str = ""
    progress: Progress | None = None
    executor: Executor | None = None

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
    with open_workers(execution.jobs, execution.executor, tasks=len(pending), preload=PRELOAD) as workers:
        while pending:
            with _Queue(pending, folder, workers, execution.command) as queue:
                for task, future in iterate_completed(queue.take, workers.limit):
                    result = queue.receive(task, future)
                    if result is not None:
                        execution.report(result, fresh=True)
                        yield task.item.spec.path(folder), result
            pending = queue.busy
            if pending:
                time.sleep(0.2)  # other processes execute them; if these are killed, this one does


class _Task(NamedTuple):
    item: PlannedRun
    lock: BaseFileLock
    finished: bool = False  # by another process


class _Queue:
    """Runs to execute. Each is locked when a worker takes it, so that several commands share the runs of a folder.

    The results are written here: workers need no disk in common with this process.
    """

    def __init__(self, pending: Sequence[PlannedRun], folder: Path, workers: Workers, command: str) -> None:
        self._pending, self._folder, self._workers = deque(pending), folder, workers
        self._call = partial(execute_if_here, threads=workers.threads, command=command)
        self._locked: list[BaseFileLock] = []
        self._again: list[_Task] = []
        self._loaded: dict[tuple[str, int], Source] = {}
        self._missing: set[str] = set()  # data sets that some worker has no files of
        self.busy: list[PlannedRun] = []  # locked by other processes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for lock in self._locked:
            lock.release()

    def take(self) -> tuple[_Task, Future[Run | None]] | None:
        """Submit the next run that no other process executes."""
        if self._again:
            return self._submit(self._again.pop())
        while self._pending:
            item = self._pending.popleft()
            lock = claim(item, self._folder)
            if lock is None:
                self.busy.append(item)
                continue
            self._locked.append(lock)
            result = find_finished(item, self._folder)
            if result is None:
                return self._submit(_Task(item, lock))
            ready: Future[Run | None] = Future()
            ready.set_result(result)
            return _Task(item, lock, finished=True), ready
        return None

    def receive(self, task: _Task, future: Future[Run | None]) -> Run | None:
        """Write the result of a run, and return it; None if the run starts again, with the data that it lacked."""
        try:
            result = future.result()
        except KilledError as error:
            result = Run(task.item.spec, task.item.digest, None, str(error))
        else:
            if result is None:
                self._missing.add(task.item.source.name)
                self._again.append(task)
                return None
            if not task.finished:
                result = store(result, self._folder)
        self._locked.remove(task.lock)
        task.lock.release()
        return result

    def _submit(self, task: _Task) -> tuple[_Task, Future[Run | None]]:
        item = task.item
        if item.source.name in self._missing:
            item = item._replace(source=self._load(item))
        return task, self._workers.executor.submit(self._call, item)

    def _load(self, item: PlannedRun) -> Source:
        """Return the source of a run with its rows, which are loaded once."""
        seed = item.spec.seed if item.source.depends_on_seed() else 0
        if (item.source.name, seed) not in self._loaded:
            self._loaded[item.source.name, seed] = item.source.load(seed)
        return self._loaded[item.source.name, seed]

"""Many cells: those that are finished are read, and the others are run in parallel."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from chmcnn._workers import processes, threads
from chmcnn.comparison._runs import Cell, Run, finished, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from chmcnn.comparison._splits import Source


class Task(NamedTuple):
    """A cell, its data, and the digest of that."""

    cell: Cell
    source: Source
    digest: str


def results(
    tasks: Sequence[Task],
    folder: Path,
    *,
    jobs: int | None = None,
    command: str = "",
    progress: Callable[[Run, bool], object] | None = None,
) -> Iterator[tuple[Path, Run]]:
    """The result of each by the path of its file, first those that are there. What another process is at comes last.

    ``progress`` is called with each, and whether it was computed just now.
    """
    told = progress or (lambda _run, _fresh: None)
    left = []
    for task in tasks:
        there = finished(task.cell, folder, task.digest)
        if there is None:
            left.append(task)
            continue
        told(there, False)  # noqa: FBT003
        yield task.cell.path(folder), there
    jobs = min(jobs or processes.cores(), max(len(left), 1))
    ready = partial(run, threads=threads.share(jobs), command=command)
    for wait in (False, True):
        calls = [partial(ready, cell, source, folder, data=digest, wait=wait) for cell, source, digest in left]
        busy = []
        for number, result in processes.each(calls, jobs):
            cell, _, digest = left[number]
            if result is None:
                busy.append(left[number])
                continue
            done = Run(cell, digest, None, str(result)) if isinstance(result, processes.Killed) else result
            told(done, True)  # noqa: FBT003
            yield cell.path(folder), done
        left = busy

"""How an experiment is run: the folders of its results and data, and its progress."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Context:
    """What every experiment's ``run`` takes first; the other arguments of ``run`` are settings of the experiment.

    Parameters
    ----------
    folder
        Folder of the experiment's results; finished parts in it are not run again.
    data_dir
        Folder of the benchmark's files, as for `chmcnn.datasets.load`.
    command
        Command that the user typed, for the record.
    jobs
        Number of runs at once, by default one for each core, or for each worker of the executor.
    quiet
        Show no progress and no notices on standard error.
    executor
        Any `concurrent.futures.Executor`, in place of processes of this machine.
    """

    folder: Path
    data_dir: Path | None = None
    command: str = ""
    jobs: int | None = None
    quiet: bool = True
    executor: Executor | None = None

    @contextmanager
    def show_progress(self) -> Iterator[Callable[[int, int], object]]:
        """Show a progress bar, unless quiet; call the result with the number of finished steps and of all steps."""
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), disable=self.quiet) as progress:
            task = progress.add_task("Running", total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)

    def notify(self, message: str) -> None:
        """Print a notice on standard error, unless quiet."""
        if not self.quiet:
            self.warn(message)

    @staticmethod
    def warn(message: str) -> None:
        """Print a message on standard error."""
        Console(stderr=True).print(message, markup=False, highlight=False, soft_wrap=True)

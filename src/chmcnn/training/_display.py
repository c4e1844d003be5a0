"""Progress of a training on standard error: loss, score, best epoch, and an upper bound of the remaining time."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from pathlib import Path

    from chmcnn.training._state import Epoch

_PHASES = {"train": "Training", "refit": "Refit   "}
_SECONDS = 60
"""Least time between two lines of a log file, where no bar can be drawn."""


class TrainingDisplay:
    """A bar for each phase of a training. Call it with each epoch, and `close` it at the end."""

    def __init__(self, *, quiet: bool = False) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=8),
            TextColumn("{task.completed}/{task.total} {task.fields[facts]}"),
            TimeElapsedColumn(),
            TextColumn("left <"),
            TimeRemainingColumn(compact=True),
        )
        self._progress = Progress(*columns, console=Console(stderr=True), disable=quiet)
        self._phase, self._told = "", time.monotonic()
        self._progress.start()

    def __call__(self, epoch: Epoch) -> None:
        """Show an epoch."""
        if epoch.phase != self._phase:
            self._phase = epoch.phase
            self._task = self._progress.add_task(_PHASES[epoch.phase], total=epoch.of, facts="")
        sample = f" of {epoch.sampled:,} rows" if epoch.sampled else ""
        score = "" if math.isnan(epoch.score) else f" AU(PRC){sample} {epoch.score:.3f} best: {epoch.best}"
        facts = f"loss {epoch.loss:.4f}{score}"
        self._progress.update(self._task, completed=epoch.number, facts=facts)
        if not self._progress.disable and not self._progress.console.is_terminal:
            self._log(f"{_PHASES[epoch.phase].strip()} {epoch.number}/{epoch.of} {facts}")

    def _log(self, line: str) -> None:
        """Write a line, unless there was one just before."""
        if time.monotonic() - self._told >= _SECONDS:
            self._told = time.monotonic()
            self._progress.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def tell_resumed(self, phase: str, epoch: int, folder: Path) -> None:
        """Say that a training goes on after an epoch, and how to begin anew."""
        what = "The refit" if phase == "refit" else "The training"
        self._progress.console.print(
            f"{what} goes on after epoch {epoch}, where it was interrupted; delete {folder} to begin anew.",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )

    def close(self) -> None:
        """Stop the display."""
        self._progress.stop()

    def __enter__(self) -> Self:
        """Show the display for the length of a block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the display."""
        self.close()

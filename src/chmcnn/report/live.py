"""Progress that is drawn again and again on standard error, and gone when the work is done."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live

if TYPE_CHECKING:
    from rich.console import RenderableType


class LiveDisplay:
    """Shows what `_shown` gives for the length of a block, unless it is quiet."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True, highlight=False)
        self._live = None if quiet else Live(console=console, get_renderable=self._shown, transient=True)

    def __enter__(self) -> Self:
        """Show it."""
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop it."""
        if self._live:
            self._live.stop()

    def _shown(self) -> RenderableType:
        raise NotImplementedError


def time_left(elapsed: float, fresh: float, left: int) -> str:
    """How long the rest will take, if it goes on as the fresh part did.

    >>> time_left(60, 2, 4), time_left(60, 0, 4)
    (', some 0:02:00 left', '')
    """
    return f", some {timedelta(seconds=round(elapsed / fresh * left))} left" if fresh else ""

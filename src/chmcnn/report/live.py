"""Progress on standard error that is redrawn while the work goes on, and removed at its end."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live

if TYPE_CHECKING:
    from rich.console import RenderableType


class LiveDisplay:
    """Shows `_content` inside a ``with`` block, unless it is quiet."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True, highlight=False)
        self._live = None if quiet else Live(console=console, get_renderable=self._content, transient=True)

    def __enter__(self) -> Self:
        """Start the display."""
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the display."""
        if self._live:
            self._live.stop()

    def _content(self) -> RenderableType:
        raise NotImplementedError


def time_left(elapsed: float, fresh: float, pending: int) -> str:
    """Estimate how long the pending part takes at the pace of the fresh one.

    >>> time_left(60, 2, 4), time_left(60, 0, 4)
    (', about 0:02:00 left', '')
    """
    return f", about {timedelta(seconds=round(elapsed / fresh * pending))} left" if fresh else ""

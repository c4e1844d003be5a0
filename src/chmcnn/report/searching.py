"""A search in the terminal: its progress on standard error, and the best trials."""

from __future__ import annotations

import math
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from chmcnn import _wording
from chmcnn.report.live import LiveDisplay, time_left

if TYPE_CHECKING:
    from chmcnn.search import Progress, SearchResult

SHOWN = 10


class Display(LiveDisplay):
    """What is done, and the best score so far. Call it with how far the search is."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._start, self._before = time.monotonic(), math.nan
        self._now: Progress | None = None
        super().__init__(quiet=quiet)

    def __call__(self, progress: Progress) -> None:
        """Remember it."""
        if self._now is None:
            self._before = progress.done
        self._now = progress

    def _shown(self) -> str:
        if self._now is None:
            return ""
        done, total, best = self._now
        elapsed, fresh = time.monotonic() - self._start, done - self._before
        left = time_left(elapsed, fresh, total - done)
        so_far = "" if math.isnan(best) else f"; best AU(PRC) so far {best:.3f}"
        return f"{done} of {total} trials done in {timedelta(seconds=round(elapsed))}{left}{so_far}"


def print_search(found: SearchResult) -> None:
    """Print the best trials, and what became of the others."""
    console = Console()
    heads, rows = best_rows(found)
    table = Table(*map(escape, heads), title=escape(f"{found.title}: best trials by validation AU(PRC)"))
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
    console.print(counted(found), markup=False, highlight=False)
    for reason, number in reasons(found).items():
        console.print(f"{_wording.count(number, 'trial')} failed: {reason}", markup=False, highlight=False)


def best_rows(found: SearchResult) -> tuple[list[str], list[list[str]]]:
    """The best trials as texts, with their heads."""
    rows = [
        [str(row["number"]), f"{row['auprc']:.3f}", *(text(row[name]) for name in found.searched)]
        for row in found.ranking.head(SHOWN).to_dict("records")
    ]
    return ["trial", "AU(PRC)", *(name.replace("_", " ") for name in found.searched)], rows


def counted(found: SearchResult) -> str:
    """How many trials came to what."""
    counts = found.trials["state"].value_counts()
    words = [f"{counts[state]:,} {state}" for state in ("finished", "pruned", "failed", "running") if state in counts]
    return f"{_wording.count(len(found.trials), 'trial')} of {found.total:,}: {', '.join(words)}."


def reasons(found: SearchResult) -> dict[str, int]:
    """Why trials failed, and how many for each reason."""
    failed = found.trials[found.trials["state"] == "failed"]
    return {str(reason): int(number) for reason, number in failed["reason"].value_counts().items()}


def text(value: Any) -> str:  # noqa: ANN401 -- a setting
    """A setting as people read it."""
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return "-"
    if isinstance(value, list):
        return "x".join(map(str, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)

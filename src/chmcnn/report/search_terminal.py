"""A search in the terminal: its progress, on standard error, and the best trials."""

from __future__ import annotations

import math
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pandas as pd
from rich.console import Console
from rich.table import Table

from chmcnn import _wording
from chmcnn.report.live import LiveDisplay, time_left

if TYPE_CHECKING:
    from chmcnn.search import Progress, SearchResult

SHOWN = 10


class SearchDisplay(LiveDisplay):
    """Progress of a search, and the best score so far. Call it with the progress."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._start, self._before = time.monotonic(), math.nan
        self._now: Progress | None = None
        super().__init__(quiet=quiet)

    def __call__(self, progress: Progress) -> None:
        """Store the progress for the next refresh."""
        if self._now is None:
            self._before = progress.done
        self._now = progress

    def _content(self) -> str:
        if self._now is None:
            return ""
        done, total, best = self._now
        elapsed, fresh = time.monotonic() - self._start, done - self._before
        remaining = time_left(elapsed, fresh, total - done)
        so_far = "" if math.isnan(best) else f"; best AU(PRC) so far {best:.3f}"
        return f"{done} of {total} trials done in {timedelta(seconds=round(elapsed))}{remaining}{so_far}"


def print_search(result: SearchResult) -> None:
    """Print the best trials, and how the others ended."""
    console = Console()
    header, rows = best_rows(result)
    table = Table(
        *map(_wording.escape_markup, header),
        title=_wording.escape_markup(f"{result.title}: best trials by validation AU(PRC)"),
    )
    for row in rows:
        table.add_row(*map(_wording.escape_markup, row))
    console.print(table)
    console.print(summarise_states(result), markup=False, highlight=False)
    for reason, number in failure_reasons(result).items():
        console.print(f"{_wording.count(number, 'trial')} failed: {reason}", markup=False, highlight=False)


def best_rows(result: SearchResult) -> tuple[list[str], list[list[str]]]:
    """Return the header and the formatted rows of the best trials."""
    rows = [
        [str(row["number"]), f"{row['auprc']:.3f}", *(format_setting(row[name]) for name in result.searched)]
        for row in result.ranking.head(SHOWN).to_dict("records")
    ]
    return ["trial", "AU(PRC)", *(name.replace("_", " ") for name in result.searched)], rows


def summarise_states(result: SearchResult) -> str:
    """Return how many trials ended in each state."""
    counts = result.trials["state"].value_counts()
    parts = [f"{counts[state]:,} {state}" for state in ("finished", "pruned", "failed", "running") if state in counts]
    return f"{_wording.count(len(result.trials), 'trial')} of {result.total:,}: {', '.join(parts)}."


def failure_reasons(result: SearchResult) -> dict[str, int]:
    """Return the number of failed trials for each reason."""
    failed = result.trials[result.trials["state"] == "failed"]
    return {str(reason): int(number) for reason, number in failed["reason"].value_counts().items()}


def format_setting(value: object) -> str:
    """Format the value of a setting."""
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return "-"
    if isinstance(value, list):
        return "x".join(map(str, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)

"""A comparison in the terminal: its progress on standard error, and its tables."""

from __future__ import annotations

import math
import time
from datetime import timedelta
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table

from chmcnn.report.live import LiveDisplay, time_left

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chmcnn.comparison import Comparison, Run


class Display(LiveDisplay):
    """What is done, and how systems score so far. Call it with each result."""

    def __init__(self, systems: Sequence[str], total: int, *, quiet: bool = False) -> None:
        self._scores: dict[str, list[float]] = {name: [] for name in systems}
        self._failed = dict.fromkeys(systems, 0)
        self._total, self._done, self._fresh = total, 0, 0
        self._start = time.monotonic()
        super().__init__(quiet=quiet)

    def __call__(self, run: Run, *, fresh: bool) -> None:
        """Count a result."""
        self._done, self._fresh = self._done + 1, self._fresh + fresh
        if run.figures:
            self._scores[run.spec.system].append(run.figures.auprc)
        else:
            self._failed[run.spec.system] += 1

    def _shown(self) -> Group:
        table = Table("system", "results", "mean AU(PRC) so far", box=None)
        for name, scores in self._scores.items():
            failed = f", {self._failed[name]} without" if self._failed[name] else ""
            table.add_row(escape(name), f"{len(scores)}{failed}", f"{fmean(scores):.3f}" if scores else "-")
        elapsed = time.monotonic() - self._start
        left = time_left(elapsed, self._fresh, self._total - self._done)
        return Group(f"{self._done} of {self._total} done in {timedelta(seconds=round(elapsed))}{left}", table)


def print_comparison(found: Comparison) -> None:
    """Print the scores, what they cost, and what was tested."""
    console = Console()
    console.print("Mean and deviation, the best in bold:")
    console.print(_scores(found))
    console.print("Mean costs, and violations before scores are made coherent:")
    console.print(_costs(found))
    for (dataset, system), reason in found.reasons.items():
        console.print(f"{system} has no result on {dataset}: {reason}", markup=False, highlight=False)
    for note in found.notes:
        console.print(note, markup=False, highlight=False)


class Text(NamedTuple):
    """A cell of the table of scores."""

    text: str
    best: bool = False


def score_rows(found: Comparison) -> list[list[Text]]:
    """Scores and average ranks, with their heads. What there are more of, data sets or systems, goes down."""
    datasets, systems = found.means.index.tolist(), found.means.columns.tolist()
    rows = [[Text("AU(PRC)"), *map(Text, systems)]]
    rows += [[Text(name), *(_score(found, name, system) for system in systems)] for name in datasets]
    if found.ranks is not None:
        rows.append([Text("average rank"), *(_rank(found, system) for system in systems)])
    return [list(row) for row in zip(*rows, strict=True)] if len(systems) > len(datasets) else rows


def _score(found: Comparison, dataset: str, system: str) -> Text:
    mean, deviation = found.mean(dataset, system), found.deviation(dataset, system)
    if math.isnan(mean):
        return Text("no result")
    text = f"{mean:.3f}" + ("" if math.isnan(deviation) else f" ± {deviation:.3f}")
    return Text(text + "*" * found.differs(dataset, system), found.best(dataset) == system)


def _rank(found: Comparison, system: str) -> Text:
    if found.ranks is None or system not in found.ranks:
        return Text("-")
    rank = found.ranks[system]
    return Text(f"{rank:.2f}" + "*" * found.differs(None, system), bool(rank == found.ranks.min()))


def _scores(found: Comparison) -> Table:
    heads, *rows = [
        [f"[bold]{escape(cell.text)}[/bold]" if cell.best else escape(cell.text) for cell in row]
        for row in score_rows(found)
    ]
    table = Table(*heads)
    for row in rows:
        table.add_row(*row)
    return table


def _costs(found: Comparison) -> Table:
    table = Table("system", "training", "prediction", "memory", "parameters", "violations")
    for row in found.costs.to_dict("records"):
        table.add_row(escape(row["system"]), *cost_texts(row))
    return table


def cost_texts(figures: Mapping[Any, Any]) -> list[str]:
    """Seconds, memory, parameters and violations as people read them; a dash for what is not known."""
    written = {
        "fit_seconds": "{:.1f} s",
        "predict_seconds": "{:.2f} s",
        "memory": "{:,.0f} MiB",
        "parameters": "{:,.0f}",
        "violations_before_share": "{:.1%}",
    }
    return ["-" if math.isnan(figures[name]) else form.format(figures[name]) for name, form in written.items()]

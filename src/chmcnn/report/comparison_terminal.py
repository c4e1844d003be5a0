"""A comparison in the terminal: its progress, on standard error, and its tables."""

from __future__ import annotations

import math
import time
from datetime import timedelta
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console, Group
from rich.table import Table

from chmcnn._wording import escape_markup, make_printable
from chmcnn.metrics import MEASURES
from chmcnn.report.live import LiveDisplay, time_left

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chmcnn.comparison import Comparison, Run
    from chmcnn.metrics import Measure


class ComparisonDisplay(LiveDisplay):
    """Progress of a comparison, and the mean scores so far. Call it with each run."""

    def __init__(
        self, systems: Sequence[str], total: int, *, measure: Measure = MEASURES["auprc"], quiet: bool = False
    ) -> None:
        self._measure = measure
        self._scores: dict[str, list[float]] = {name: [] for name in systems}
        self._failed = dict.fromkeys(systems, 0)
        self._total, self._done, self._fresh = total, 0, 0
        self._start = time.monotonic()
        super().__init__(quiet=quiet)

    def __call__(self, run: Run, *, fresh: bool) -> None:
        """Count a run."""
        self._done, self._fresh = self._done + 1, self._fresh + fresh
        if run.figures:
            score = run.figures.get(self._measure)
            self._scores[run.spec.system].append(math.nan if score is None else score)
        else:
            self._failed[run.spec.system] += 1

    def _content(self) -> Group:
        table = Table("system", "results", f"mean {self._measure.title} so far", box=None)
        for name, scores in self._scores.items():
            failed = f", {self._failed[name]} without" if self._failed[name] else ""
            table.add_row(escape_markup(name), f"{len(scores)}{failed}", f"{fmean(scores):.3f}" if scores else "-")
        elapsed = time.monotonic() - self._start
        remaining = time_left(elapsed, self._fresh, self._total - self._done)
        return Group(f"{self._done} of {self._total} done in {timedelta(seconds=round(elapsed))}{remaining}", table)


def print_comparison(comparison: Comparison) -> None:
    """Print the scores, the costs, and the results of the tests."""
    console = Console()
    arrow = "" if all(measure.higher_is_better for measure in comparison.measures) else " (↓: lower is better)"
    console.print(f"Mean and standard deviation, best in bold{arrow}:")
    console.print(_scores(comparison))
    console.print("Mean cost, and violations before the scores are made coherent:")
    console.print(_costs(comparison))
    for (dataset, system), reason in comparison.reasons.items():
        line = make_printable(f"{system} has no result on {dataset}: {reason}")
        console.print(line, markup=False, highlight=False)
    for note in comparison.notes:
        console.print(note, markup=False, highlight=False)


class ScoreCell(NamedTuple):
    """One cell of the table of scores."""

    text: str
    best: bool = False


def name_measure(measure: Measure) -> str:
    """Return the title of a measure, with an arrow if lower is better."""
    return measure.title if measure.higher_is_better else f"{measure.title} ↓"


def score_rows(comparison: Comparison) -> list[list[ScoreCell]]:
    """Return scores and average ranks with their headers: one row for each data set and measure, or one column.

    The longer side makes the rows. Average ranks and stars of significant differences are those of the main measure.
    """
    datasets, systems = comparison.means.index.tolist(), comparison.means.columns.tolist()
    one_measure, one_dataset = len(comparison.measures) == 1, len(datasets) == 1
    corner = name_measure(comparison.main) if one_measure else datasets[0] if one_dataset else "data set"
    rows = [[ScoreCell(corner), *map(ScoreCell, systems)]]
    for dataset in datasets:
        for measure in comparison.measures:
            title = name_measure(measure)
            name = dataset if one_measure else title if one_dataset else f"{dataset}: {title}"
            rows.append([ScoreCell(name), *(_score(comparison, dataset, system, measure) for system in systems)])
    if comparison.ranks is not None:
        name = "average rank" if one_measure else f"average rank by {comparison.main.title}"
        rows.append([ScoreCell(name), *(_rank(comparison, system) for system in systems)])
    scored = len(datasets) * len(comparison.measures)
    return [list(row) for row in zip(*rows, strict=True)] if len(systems) > scored else rows


def _score(comparison: Comparison, dataset: str, system: str, measure: Measure) -> ScoreCell:
    mean, deviation = comparison.mean(dataset, system, measure), comparison.deviation(dataset, system, measure)
    if math.isnan(mean):
        return ScoreCell("no result")
    text = f"{mean:.3f}" + ("" if math.isnan(deviation) else f" ± {deviation:.3f}")
    starred = measure == comparison.main and comparison.differs(dataset, system)
    return ScoreCell(text + "*" * starred, comparison.best(dataset, measure) == system)


def _rank(comparison: Comparison, system: str) -> ScoreCell:
    if comparison.ranks is None or system not in comparison.ranks:
        return ScoreCell("-")
    rank = comparison.ranks[system]
    return ScoreCell(f"{rank:.2f}" + "*" * comparison.differs(None, system), bool(rank == comparison.ranks.min()))


def _scores(comparison: Comparison) -> Table:
    header, *rows = [
        [f"[bold]{escape_markup(cell.text)}[/bold]" if cell.best else escape_markup(cell.text) for cell in row]
        for row in score_rows(comparison)
    ]
    table = Table(*header)
    for row in rows:
        table.add_row(*row)
    return table


def _costs(comparison: Comparison) -> Table:
    table = Table("system", "training", "prediction", "memory", "parameters", "violations")
    for row in comparison.costs.to_dict("records"):
        table.add_row(escape_markup(row["system"]), *format_costs(row))
    return table


def format_costs(figures: Mapping[Any, Any]) -> list[str]:
    """Format seconds, memory, parameters and violations; a dash stands for an unknown value."""
    formats = {
        "fit_seconds": "{:.1f} s",
        "predict_seconds": "{:.2f} s",
        "memory": "{:,.0f} MiB",
        "parameters": "{:,.0f}",
        "violations_before_share": "{:.1%}",
    }
    return ["-" if math.isnan(figures[name]) else template.format(figures[name]) for name, template in formats.items()]

"""The page of a comparison, one HTML file that needs nothing else, and its picture of scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from chmcnn import _wording
from chmcnn.report import significance
from chmcnn.report.comparison_terminal import format_costs, name_measure, score_rows
from chmcnn.report.page import inline, render

if TYPE_CHECKING:
    from chmcnn.comparison import Comparison

_BLUE, _ORANGE = "#3b6fa0", "#d9822b"
_NAMED = 3
"""Maximum number of data sets that the title names."""


def page(comparison: Comparison, command: str) -> str:
    """Return the page: scores, ranks, tests, costs, and the command that repeats it."""
    names, titles = list(comparison.means.index), [name_measure(measure) for measure in comparison.measures]
    on = ", ".join(names) if len(names) <= _NAMED else f"{len(names)} data sets"
    return render(
        "comparison.html",
        title=f"{_wording.count(len(comparison.means.columns), 'system')} on {on}",
        comparison=comparison,
        rows=score_rows(comparison),
        measures=" and ".join(filter(None, [", ".join(titles[:-1]), titles[-1]])),
        scores=[inline(draw(comparison, name)) for name in names],
        ranks=None if comparison.nemenyi is None else inline(significance.draw(comparison.nemenyi)),
        command=command,
        costs=[(row["dataset"], row["system"], format_costs(row)) for row in comparison.details.to_dict("records")],
        repeats=int(comparison.runs.groupby(["dataset", "system"]).size().max()),
        folds=bool(comparison.runs["folds"].notna().any()),
    )


def draw(comparison: Comparison, dataset: str) -> Figure:
    """Draw the scores on a data set: a dot for each seed or fold, a bar at the mean, and the standard deviation."""
    systems = list(comparison.means.columns)
    figure = Figure(figsize=(5.4, 0.34 * len(systems) + 0.95), layout="constrained")
    axis = figure.subplots()
    for place, system in enumerate(systems):
        mean, deviation = comparison.mean(dataset, system), comparison.deviation(dataset, system)
        if math.isnan(mean):
            axis.text(
                0.5, place, "no result", transform=axis.get_yaxis_transform(), ha="center", va="center", alpha=0.5
            )
            continue
        chosen = (comparison.runs["dataset"] == dataset) & (comparison.runs["system"] == system)
        values = comparison.runs.loc[chosen, comparison.main.name].tolist()
        colour = _ORANGE if system == comparison.best(dataset) else _BLUE
        around = 0 if math.isnan(deviation) else deviation
        axis.errorbar(mean, place, xerr=around, color=colour, fmt="|", markersize=12)
        axis.plot(values, [place] * len(values), "o", color=colour, markersize=4, alpha=0.55, markeredgewidth=0)
    axis.set_title(dataset, fontsize=10, parse_math=False)
    axis.set(
        yticks=range(len(systems)),
        yticklabels=systems,
        ylim=(len(systems) - 0.5, -0.5),
        xlabel=name_measure(comparison.main),
    )
    axis.grid(axis="x", color="0.92")
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(left=False, labelsize=9)
    axis.margins(x=0.1)
    return figure

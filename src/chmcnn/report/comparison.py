"""The report of a comparison: one HTML page that needs nothing else, and its picture of scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from chmcnn import _wording
from chmcnn.report import significance
from chmcnn.report.comparing import cost_texts, score_rows
from chmcnn.report.page import inline, render

if TYPE_CHECKING:
    from chmcnn.comparison import Comparison

_BLUE, _ORANGE = "#3b6fa0", "#d9822b"
_NAMED = 3
"""How many data sets are named in the title."""


def page(found: Comparison, command: str) -> str:
    """The page: scores, ranks and what was tested, costs, and how to get it again."""
    names = list(found.means.index)
    on = ", ".join(names) if len(names) <= _NAMED else f"{len(names)} data sets"
    return render(
        "comparison.html",
        title=f"{_wording.count(len(found.means.columns), 'system')} on {on}",
        found=found,
        rows=score_rows(found),
        scores=[inline(draw(found, name)) for name in names],
        ranks=None if found.nemenyi is None else inline(significance.draw(found.nemenyi)),
        command=command,
        costs=[(row["dataset"], row["system"], cost_texts(row)) for row in found.details.to_dict("records")],
        repeats=int(found.runs.groupby(["dataset", "system"]).size().max()),
        folds=bool(found.runs["folds"].notna().any()),
    )


def draw(found: Comparison, dataset: str) -> Figure:
    """The scores on a data set: a dot for each seed or fold, a bar at the mean, and the deviation around it."""
    systems = list(found.means.columns)
    figure = Figure(figsize=(5.4, 0.34 * len(systems) + 0.95), layout="constrained")
    axis = figure.subplots()
    for place, system in enumerate(systems):
        mean, deviation = found.mean(dataset, system), found.deviation(dataset, system)
        if math.isnan(mean):
            axis.text(
                0.5, place, "no result", transform=axis.get_yaxis_transform(), ha="center", va="center", alpha=0.5
            )
            continue
        chosen = (found.runs["dataset"] == dataset) & (found.runs["system"] == system)
        values = found.runs.loc[chosen, "auprc"].tolist()
        colour = _ORANGE if system == found.best(dataset) else _BLUE
        around = 0 if math.isnan(deviation) else deviation
        axis.errorbar(mean, place, xerr=around, color=colour, fmt="|", markersize=12)
        axis.plot(values, [place] * len(values), "o", color=colour, markersize=4, alpha=0.55, markeredgewidth=0)
    axis.set_title(dataset, fontsize=10, parse_math=False)
    axis.set(yticks=range(len(systems)), yticklabels=systems, ylim=(len(systems) - 0.5, -0.5), xlabel="AU(PRC)")
    axis.grid(axis="x", color="0.92")
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(left=False, labelsize=9)
    axis.margins(x=0.1)
    return figure

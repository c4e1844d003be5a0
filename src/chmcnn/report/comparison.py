"""The report of a comparison: one HTML page that needs nothing else, and its picture of scores."""

from __future__ import annotations

import math
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from chmcnn import __version__
from chmcnn.report import significance
from chmcnn.report.comparing import cost_texts
from chmcnn.report.page import inline

if TYPE_CHECKING:
    from chmcnn.comparison import Comparison

_COLUMNS = 3
_COLOURS = ("#3b6fa0", "#d9822b")


def page(found: Comparison, command: str) -> str:
    """The page: scores, ranks and what was tested, costs, and how to get it again."""
    import jinja2

    template = resources.files("chmcnn.report").joinpath("templates/comparison.html").read_text(encoding="utf-8")
    drawn = {"scores": inline(draw(found))}
    if found.nemenyi is not None:
        drawn["ranks"] = inline(significance.draw(found.nemenyi))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(template).render(
        found=found,
        drawn=drawn,
        command=command,
        costs=[(row["dataset"], row["system"], cost_texts(row)) for row in found.details.to_dict("records")],
        repeats=int(found.runs.groupby(["dataset", "system"]).size().max()),
        folds=bool(found.runs["folds"].notna().any()),
        version=__version__,
    )


def draw(found: Comparison) -> Figure:
    """The scores of each data set: a dot for each seed or fold, a bar at the mean, and the deviation around it."""
    datasets, systems = list(found.means.index), list(found.means.columns)
    columns = min(_COLUMNS, len(datasets))
    rows = -(-len(datasets) // columns)
    height = 0.34 * len(systems) + 0.85
    figure = Figure(figsize=(max(3.6 * columns, 6.4), height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axis, name in zip(axes.flat, datasets, strict=False):
        for place, system in enumerate(systems):
            mean, deviation = found.mean(name, system), found.deviation(name, system)
            if math.isnan(mean):
                axis.text(
                    0.5, place, "no result", transform=axis.get_yaxis_transform(), ha="center", va="center", color="0.5"
                )
                continue
            chosen = (found.runs["dataset"] == name) & (found.runs["system"] == system)
            values = found.runs.loc[chosen, "auprc"].to_numpy(dtype=np.float64)
            colour = _COLOURS[system == found.best(name)]
            axis.errorbar(
                mean, place, xerr=0 if math.isnan(deviation) else deviation, color=colour, fmt="|", markersize=12
            )
            axis.plot(
                values, np.full(len(values), place), "o", color=colour, markersize=4, alpha=0.55, markeredgewidth=0
            )
        axis.set_title(name, fontsize=10, parse_math=False)
        axis.set(yticks=range(len(systems)), yticklabels=systems, ylim=(len(systems) - 0.5, -0.5))
        axis.grid(axis="x", color="0.92")
        axis.set_axisbelow(True)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(left=False, labelsize=9)
        axis.margins(x=0.12)
    for axis in axes[-1]:
        axis.set_xlabel("AU(PRC)", fontsize=9)
    for axis in list(axes.flat)[len(datasets) :]:
        axis.set_visible(False)
    return figure

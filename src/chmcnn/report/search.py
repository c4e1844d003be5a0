"""The report of a search: its picture, and one HTML page that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chmcnn.report.page import inline, render
from chmcnn.report.searching import best_rows, counted, reasons, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from chmcnn.search import SearchResult

_BLUE, _ORANGE = "#3b6fa0", "#d9822b"


def page(found: SearchResult, command: str) -> str:
    """The page: the best setting, the history, the importances, and the best trials."""
    heads, rows = best_rows(found)
    return render(
        "search.html",
        title=f"Settings for {found.title}",
        found=found,
        counted=counted(found),
        reasons=reasons(found),
        best={name: text(value) for name, value in found.best.items()},
        score=found.facts()["validation AU(PRC)"],
        history=inline(_alone(_draw_history, found)),
        importances=inline(_alone(_draw_importances, found)) if found.importances else None,
        heads=heads,
        rows=rows,
        command=command,
    )


def draw(found: SearchResult) -> Figure:
    """The scores in the order of the trials, with the best so far; and how much each setting matters."""
    if not found.importances:
        return _alone(_draw_history, found)
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    first, second = figure.subplots(1, 2, width_ratios=(3, 2))
    _draw_history(first, found)
    _draw_importances(second, found)
    return figure


def _alone(part: Callable[[Axes, SearchResult], None], found: SearchResult) -> Figure:
    figure = Figure(figsize=(5.4, 3.4), layout="constrained")
    part(figure.subplots(), found)
    return figure


def _draw_history(axis: Axes, found: SearchResult) -> None:
    finished = found.trials[found.trials["state"] == "finished"]
    numbers, scores = finished["number"].tolist(), finished["auprc"]
    axis.plot(numbers, scores, "o", color=_BLUE, markersize=4.5, alpha=0.7, markeredgewidth=0, label="finished")
    axis.step(numbers, scores.cummax(), where="post", color=_ORANGE, label="best so far")
    for state, mark in (("pruned", "|"), ("failed", "x")):
        ended = found.trials.loc[found.trials["state"] == state, "number"].tolist()
        if ended:
            places = [0.025] * len(ended)
            kept = axis.get_xaxis_transform()
            axis.plot(ended, places, mark, color="0.5", markersize=6, transform=kept, label=state, clip_on=False)
    axis.set(xlabel="trial", ylabel="validation AU(PRC)")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.margins(y=0.12)
    axis.grid(axis="y", color="0.92")
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4)


def _draw_importances(axis: Axes, found: SearchResult) -> None:
    names, shares = list(found.importances), list(found.importances.values())
    drawn = axis.barh(range(len(names)), shares, color=_BLUE, height=0.6)
    axis.bar_label(drawn, [f"{share:.0%}" for share in shares], fontsize=8, padding=3)
    axis.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -0.6), xticks=[])
    axis.set_xlim(0, 1.15 * max(shares))
    axis.set_title("how much each setting matters", fontsize=10)
    axis.spines[["top", "right", "bottom"]].set_visible(False)
    axis.tick_params(left=False, labelsize=9)

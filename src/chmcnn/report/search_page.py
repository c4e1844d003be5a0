"""The page of a search, one HTML file that needs nothing else, and its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chmcnn.report.page import inline, render
from chmcnn.report.search_terminal import best_rows, failure_reasons, format_setting, summarise_states

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from chmcnn.search import SearchResult

_BLUE, _ORANGE = "#3b6fa0", "#d9822b"


def page(result: SearchResult, command: str) -> str:
    """Return the page: the best settings, the history, the importances, and the best trials."""
    header, rows = best_rows(result)
    return render(
        "search.html",
        title=f"Settings for {result.title}",
        result=result,
        states=summarise_states(result),
        reasons=failure_reasons(result),
        best={name: format_setting(value) for name, value in result.best.items()},
        score=result.facts()["validation AU(PRC)"],
        history=inline(_draw_alone(_draw_history, result)),
        importances=inline(_draw_alone(_draw_importances, result)) if result.importances else None,
        header=header,
        rows=rows,
        command=command,
    )


def draw(result: SearchResult) -> Figure:
    """Draw the scores in the order of the trials with the best so far, and the importance of each setting."""
    if not result.importances:
        return _draw_alone(_draw_history, result)
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    first, second = figure.subplots(1, 2, width_ratios=(3, 2))
    _draw_history(first, result)
    _draw_importances(second, result)
    return figure


def _draw_alone(draw_part: Callable[[Axes, SearchResult], None], result: SearchResult) -> Figure:
    figure = Figure(figsize=(5.4, 3.4), layout="constrained")
    draw_part(figure.subplots(), result)
    return figure


def _draw_history(axis: Axes, result: SearchResult) -> None:
    finished = result.trials[result.trials["state"] == "finished"]
    numbers, scores = finished["number"].tolist(), finished["auprc"]
    axis.plot(numbers, scores, "o", color=_BLUE, markersize=4.5, alpha=0.7, markeredgewidth=0, label="finished")
    axis.step(numbers, scores.cummax(), where="post", color=_ORANGE, label="best so far")
    for state, mark in (("pruned", "|"), ("failed", "x")):
        ended = result.trials.loc[result.trials["state"] == state, "number"].tolist()
        if ended:
            places = [0.025] * len(ended)
            transform = axis.get_xaxis_transform()
            axis.plot(ended, places, mark, color="0.5", markersize=6, transform=transform, label=state, clip_on=False)
    axis.set(xlabel="trial", ylabel="validation AU(PRC)")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.margins(y=0.12)
    axis.grid(axis="y", color="0.92")
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4)


def _draw_importances(axis: Axes, result: SearchResult) -> None:
    names, shares = list(result.importances), list(result.importances.values())
    drawn = axis.barh(range(len(names)), shares, color=_BLUE, height=0.6)
    axis.bar_label(drawn, [f"{share:.0%}" for share in shares], fontsize=8, padding=3)
    axis.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -0.6), xticks=[])
    axis.set_xlim(0, 1.15 * max(shares))
    axis.set_title("importance of each setting", fontsize=10)
    axis.spines[["top", "right", "bottom"]].set_visible(False)
    axis.tick_params(left=False, labelsize=9)

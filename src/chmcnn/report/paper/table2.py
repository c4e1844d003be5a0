"""Table 2: our AU(PRC) on the test rows beside all that was published."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from chmcnn.datasets.catalogue import catalogue
from chmcnn.experiments import published, recipes, table2
from chmcnn.report.paper import significance
from chmcnn.report.paper.section import Check, Picture, Section, Table, Value

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd

    from chmcnn.experiments.recipes import Recipe
    from chmcnn.experiments.table2 import Table2

_NAMES = {"default": "default recipe", "paper": "paper's recipe"}
_COLOURS = {"default": "#d9822b", "paper": "#3b6fa0"}


def section(result: Table2) -> Section:
    """The table, the statistics on ours, and what falls short."""
    used = [recipe for recipe in recipes.RECIPES if (result.summary["recipe"] == recipe).any()]
    compared = {recipe: result.compared(recipe) for recipe in used}
    return Section(
        name="table2",
        title="Table 2: AU(PRC) on 20 data sets",
        text="Each network is trained on the training rows, stopped by the validation rows, trained again on both, and "
        "tested on the test rows. The paper's recipe has batches of 4 and the published width and learning rate of "
        "each data set; the default recipe is that of CHMCNNClassifier. A data set marked as having a reconstructed "
        "train file is not the paper's, whose own is not to be had: it is in no statistic. The authors' program has "
        "other settings than the paper for expr_FUN (1,250 units), expr_GO and seq_GO (learning rate 1e-4).",
        command=recipes.commands(result.runs),
        checks=tuple(_check(result, recipe) for recipe in used if len(result.compared(recipe))),
        tables=(
            _scores(result, used),
            _short(result),
            *(significance.statistics(compared[each], f"Statistics, ours by the {_NAMES[each]}") for each in used),
        ),
        pictures=(
            Picture("differences", "Ours less the published figure: mean and deviation.", _draw(result, used)),
            *(
                picture
                for each in used
                for picture in significance.pictures(compared[each], each, f"Ours by the {_NAMES[each]}")
            ),
        ),
    )


def _check(result: Table2, recipe: str) -> Check:
    """Of the paper's own data sets: one with a reconstructed train file is none of them."""
    chosen = result.summary[(result.summary["recipe"] == recipe) & ~result.summary["reconstructed"]]
    bound = f"within {table2.NEAR} of" if recipe == "paper" else f"at most {table2.BELOW} below"
    short = chosen.loc[~chosen["good"], "dataset"].tolist()
    return Check(
        f"{_NAMES[recipe]}: mean {bound} the published figure, which is of 10 seeds",
        "each data set",
        f"{len(chosen) - len(short)} of {len(chosen)} that were run, {recipes.seeds(chosen)}",
        not short,
        f"not on {', '.join(short)}: see the table of what falls short" if short else "",
        goal=recipe == "default",
    )


def _scores(result: Table2, used: list[Recipe]) -> Table:
    figures = published.auprc()
    datasets = list(dict.fromkeys(result.summary["dataset"]))
    rows = tuple(
        (
            name,
            *(_mean(result.summary, name, recipe) for recipe in used),
            *map(_known, figures.loc[[recipes.plain(name)]].to_numpy()[0].tolist()),
        )
        for name in datasets
    )
    return Table(
        "AU(PRC)",
        ("data set", *(f"ours, {_NAMES[recipe]}" for recipe in used), *figures.columns),
        rows,
        note="Ours: mean ± deviation, in brackets the number of seeds. The other columns are published figures: of the "
        f"paper's Table 2, and of DHN, which was not peer reviewed.{_lacking(datasets)} {_time(result, used)}",
    )


def _time(result: Table2, used: list[Recipe]) -> str:
    """How long all data sets take with one seed: a mean of each, as results may be of different numbers of seeds."""
    taken = result.runs.groupby(["recipe", "dataset"])["fit_seconds"].mean()
    told = (f"{len(taken[each])} data sets in {taken[each].sum() / 60:.0f} minutes ({_NAMES[each]})" for each in used)
    return f"Training with one seed, one after the other: {', '.join(told)}."


def _lacking(datasets: list[str]) -> str:
    lacking = [name for name in catalogue().entries if name not in datasets]
    return f" Without a result: {', '.join(lacking)}." if lacking else ""


def _mean(summary: pd.DataFrame, dataset: str, recipe: str) -> str | None:
    chosen = summary[(summary["dataset"] == dataset) & (summary["recipe"] == recipe)]
    if chosen.empty:
        return None
    mean, deviation, seeds = chosen.iloc[0][["mean", "deviation", "seeds"]]
    around = "" if math.isnan(deviation) else f" ± {deviation:.3f}"
    return f"{mean:.3f}{around} ({seeds})"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _short(result: Table2) -> Table:
    """What is not as good as it should be, with the standard error of our mean to judge it by."""
    rows: list[tuple[Value, ...]] = []
    for each in result.summary[~result.summary["good"]].to_dict("records"):
        error = each["deviation"] / math.sqrt(each["seeds"])
        measured = (each["difference"], _known(error), int(each["seeds"]))
        rows.append((each["dataset"], _NAMES[each["recipe"]], *measured, _why(each, error, result.summary)))
    return Table(
        "What falls short",
        ("data set", "recipe", "ours less published", "standard error", "seeds", "why"),
        tuple(rows),
        digits=4,
        note="" if rows else "Nothing does.",
    )


def _why(short: Mapping[Hashable, Any], error: float, summary: pd.DataFrame) -> str:
    """As far as the results tell."""
    if short["reconstructed"]:
        return "its train file is not the paper's"
    bound = table2.NEAR if short["recipe"] == "paper" else table2.BELOW
    other = summary[(summary["dataset"] == short["dataset"]) & (summary["recipe"] != short["recipe"])]
    gets = "" if other.empty else f"the {_NAMES[other.iloc[0]['recipe']]} gets {other.iloc[0]['mean']:.3f}"
    if math.isnan(error):
        return "not to be told from one seed"
    if abs(short["difference"]) - bound < 2 * error:
        chance = "by less than two standard errors beyond the bound: it may be chance"
        return f"{chance}; {gets}" if gets else chance
    if other.empty:
        return "not known; the other recipe, which would tell if it is the settings, was not run"
    return f"{'it is the settings' if other.iloc[0]['good'] else 'the settings are not all of it'}: {gets}"


def _draw(result: Table2, used: list[Recipe]) -> Figure:
    datasets = list(dict.fromkeys(result.summary["dataset"]))
    figure = Figure(figsize=(7.2, 0.27 * len(datasets) + 1.1), layout="constrained")
    axis = figure.subplots()
    axis.axvline(0, color="0.6", linewidth=1)
    for number, recipe in enumerate(used):
        chosen = result.summary[result.summary["recipe"] == recipe]
        places = [datasets.index(name) + 0.22 * (number - (len(used) - 1) / 2) for name in chosen["dataset"]]
        axis.errorbar(
            chosen["difference"],
            places,
            xerr=chosen["deviation"].fillna(0),
            fmt="os"[number],
            color=_COLOURS[recipe],
            markersize=4.5,
            linewidth=1,
            label=_NAMES[recipe],
        )
    axis.set(yticks=range(len(datasets)), ylim=(len(datasets) - 0.5, -0.5), xlabel="AU(PRC), ours less published")
    axis.set_yticklabels(datasets, parse_math=False)
    axis.grid(axis="x", color="0.92")
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(left=False, labelsize=9)
    figure.legend(loc="outside upper right", ncols=2, fontsize=9, frameon=False)
    return figure

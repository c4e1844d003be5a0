"""Table 2 of the paper: AU(PRC) on the test rows of the 20 data sets, by each of our recipes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chmcnn.datasets.catalogue import catalogue
from chmcnn.experiments import published, recipes, significance
from chmcnn.experiments.section import Check, Picture, Section, SectionTable, Value, new_figure

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from chmcnn.experiments.context import Context
    from chmcnn.experiments.recipes import Benchmark, Recipe

SYSTEM = "C-HMCNN"
NEAR = 0.005
"""Largest difference of a mean by the paper's recipe from the published result."""
BELOW = 0.003
"""Largest amount by which a mean by another recipe may be below it."""


_NAMES = {"default": "default recipe", "paper": "paper's recipe", "best": "best recipe"}
_COLOURS = {"default": "#d9822b", "paper": "#3b6fa0", "best": "#4c9a5a"}


@dataclass(frozen=True, slots=True, eq=False)
class Table2:
    """Our runs, one per row, and their means beside the published results."""

    runs: pd.DataFrame
    summary: pd.DataFrame  # dataset, recipe, mean, deviation, seeds, reconstructed, published, difference, good

    def scores(self, recipe: recipes.Recipe) -> pd.Series[float]:
        """Return the mean on each data set for one recipe."""
        chosen = self.summary[self.summary["recipe"] == recipe]
        return chosen.set_index("dataset")["mean"]

    def compared(self, recipe: recipes.Recipe) -> pd.DataFrame:
        """Return the published table with our results instead of the published C-HMCNN.

        It has the data sets that we ran, without those that have a reconstructed train file.
        """
        ours = recipes.genuine(self.scores(recipe).to_frame())["mean"]
        return published.auprc().drop(columns="DHN").loc[ours.index].assign(**{SYSTEM: ours})


def run(context: Context, benchmark: Benchmark) -> dict[str, str]:
    """Train and test C-HMCNN, or the ensemble, on each data set, and store each run in a file.

    Returns
    -------
    Data sets without a result, because their files are not available, with the reason.
    """
    return recipes.run(context, benchmark, [recipes.ENSEMBLE if benchmark.recipe == "best" else SYSTEM])


def collect(folder: Path) -> Table2 | None:
    """Read the results in a folder; return None if there are none."""
    runs = recipes.collect(folder / "runs", [SYSTEM, recipes.ENSEMBLE])
    if runs is None:
        return None
    summary = recipes.means(runs, "auprc").drop(columns="system")
    figures = published.auprc()[SYSTEM]
    summary["reconstructed"] = [name != recipes.plain(name) for name in summary["dataset"]]
    summary["published"] = [float(figures[recipes.plain(name)]) for name in summary["dataset"]]
    summary["difference"] = (summary["mean"] - summary["published"]).round(6)
    by_paper = summary["recipe"] == "paper"
    summary["good"] = (summary["difference"] >= -BELOW).where(~by_paper, summary["difference"].abs() <= NEAR)
    return Table2(runs, summary)


def section(result: Table2) -> Section:
    """Turn the results into a section of the page."""
    used = [recipe for recipe in recipes.RECIPES if (result.summary["recipe"] == recipe).any()]
    compared = {recipe: result.compared(recipe) for recipe in used}
    return Section(
        name="table2",
        title="Table 2: AU(PRC) on 20 data sets",
        text="Each network is trained on the training rows with early stopping on the validation rows, refitted on "
        "both, and tested on the test rows. The paper's recipe uses batches of 4 and the published width and learning"
        " rate of each data set; the default recipe is that of CHMCNNClassifier, the best recipe that of "
        "CoherentEnsemble, whose members are refitted as the network is. A data set with a reconstructed train file "
        "differs from the paper's, whose file is not available; no statistic includes it. The authors' "
        "program uses other settings than the paper for expr_FUN (1,250 units), expr_GO and seq_GO (learning rate "
        "1e-4).",
        command=recipes.commands(result.runs),
        checks=tuple(_check(result, recipe) for recipe in used if len(result.compared(recipe))),
        tables=(
            _scores(result, used),
            _missed_targets(result),
            *(
                significance.statistics(compared[recipe], f"Statistics, ours by the {_NAMES[recipe]}")
                for recipe in used
            ),
        ),
        pictures=(
            Picture(
                "differences", "Our result minus the published one: mean and standard deviation.", _draw(result, used)
            ),
            *(
                picture
                for recipe in used
                for picture in significance.pictures(compared[recipe], recipe, f"Ours by the {_NAMES[recipe]}")
            ),
        ),
    )


def _check(result: Table2, recipe: str) -> Check:
    """Check the data sets of the paper, without those that have a reconstructed train file."""
    chosen = result.summary[(result.summary["recipe"] == recipe) & ~result.summary["reconstructed"]]
    bound = f"within {NEAR} of" if recipe == "paper" else f"at most {BELOW} below"
    short = chosen.loc[~chosen["good"], "dataset"].tolist()
    return Check(
        f"{_NAMES[recipe]}: mean {bound} the published result of 10 seeds",
        "each data set",
        f"{len(chosen) - len(short)} of {len(chosen)} data sets, {recipes.seeds(chosen)}",
        not short,
        f"not on {', '.join(short)}: see the table of missed targets" if short else "",
        goal=recipe != "paper",
    )


def _scores(result: Table2, used: list[Recipe]) -> SectionTable:
    figures = published.auprc()
    datasets = list(dict.fromkeys(result.summary["dataset"]))
    rows = tuple(
        (
            name,
            *(_mean(result.summary, name, recipe) for recipe in used),
            *map(_none_if_nan, figures.loc[[recipes.plain(name)]].to_numpy()[0].tolist()),
        )
        for name in datasets
    )
    return SectionTable(
        "AU(PRC)",
        ("data set", *(f"ours, {_NAMES[recipe]}" for recipe in used), *figures.columns),
        rows,
        note="Ours: mean ± standard deviation (number of seeds). The other columns are published results: from the "
        f"paper's Table 2, and of DHN, which was not peer reviewed.{_lacking(datasets)} {_time(result, used)}",
    )


def _time(result: Table2, used: list[Recipe]) -> str:
    """Say how long all data sets take with one seed, from the mean time of each."""
    minutes = result.runs.groupby(["recipe", "dataset"])["fit_seconds"].mean() / 60
    parts = (
        f"{len(minutes[recipe])} data sets in {minutes[recipe].sum():.0f} minutes ({_NAMES[recipe]})" for recipe in used
    )
    return f"Training with one seed, one data set after the other: {', '.join(parts)}."


def _lacking(datasets: list[str]) -> str:
    lacking = [name for name in catalogue().entries if name not in datasets]
    return f" No result: {', '.join(lacking)}." if lacking else ""


def _mean(summary: pd.DataFrame, dataset: str, recipe: str) -> str | None:
    chosen = summary[(summary["dataset"] == dataset) & (summary["recipe"] == recipe)]
    if chosen.empty:
        return None
    mean, deviation, seeds = chosen.iloc[0][["mean", "deviation", "seeds"]]
    around = "" if math.isnan(deviation) else f" ± {deviation:.3f}"
    return f"{mean:.3f}{around} ({seeds})"


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def _missed_targets(result: Table2) -> SectionTable:
    """List the data sets that miss their target, with the standard error of our mean."""
    rows: list[tuple[Value, ...]] = []
    for missed in result.summary[~result.summary["good"]].to_dict("records"):
        error = missed["deviation"] / math.sqrt(missed["seeds"])
        measured = (missed["difference"], _none_if_nan(error), int(missed["seeds"]))
        rows.append((missed["dataset"], _NAMES[missed["recipe"]], *measured, _why(missed, error, result.summary)))
    return SectionTable(
        "Missed targets",
        ("data set", "recipe", "ours minus published", "standard error", "seeds", "why"),
        tuple(rows),
        digits=4,
        note="" if rows else "None.",
    )


def _why(missed: Mapping[Hashable, Any], error: float, summary: pd.DataFrame) -> str:
    """Explain a missed target, as far as the results allow."""
    if missed["reconstructed"]:
        return "its train file differs from the paper's"
    bound = NEAR if missed["recipe"] == "paper" else BELOW
    other = summary[(summary["dataset"] == missed["dataset"]) & (summary["recipe"] != missed["recipe"])]
    gets = "" if other.empty else f"the {_NAMES[other.iloc[0]['recipe']]} gets {other.iloc[0]['mean']:.3f}"
    if math.isnan(error):
        return "unknown from one seed"
    if abs(missed["difference"]) - bound < 2 * error:
        chance = "less than two standard errors beyond the bound: may be chance"
        return f"{chance}; {gets}" if gets else chance
    if other.empty:
        return "unknown; the other recipe, which would show whether it is the settings, was not run"
    return f"{'due to the settings' if other.iloc[0]['good'] else 'not only due to the settings'}: {gets}"


def _draw(result: Table2, used: list[Recipe]) -> Figure:
    datasets = list(dict.fromkeys(result.summary["dataset"]))
    figure = new_figure(7.2, 0.27 * len(datasets) + 1.1)
    axis = figure.subplots()
    axis.axvline(0, color="0.6", linewidth=1)
    for number, recipe in enumerate(used):
        chosen = result.summary[result.summary["recipe"] == recipe]
        places = [datasets.index(name) + 0.22 * (number - (len(used) - 1) / 2) for name in chosen["dataset"]]
        axis.errorbar(
            chosen["difference"],
            places,
            xerr=chosen["deviation"].fillna(0),
            fmt="os^"[number],
            color=_COLOURS[recipe],
            markersize=4.5,
            linewidth=1,
            label=_NAMES[recipe],
        )
    axis.set(yticks=range(len(datasets)), ylim=(len(datasets) - 0.5, -0.5), xlabel="AU(PRC), ours minus published")
    axis.set_yticklabels(datasets, parse_math=False)
    axis.grid(axis="x", color="0.92")
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(left=False, labelsize=9)
    figure.legend(loc="outside upper right", ncols=3, fontsize=9, frameon=False)
    return figure

"""Table 3 of the paper: the effect of the layer and of the loss, on the validation rows of the FunCat data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chmcnn import _wording
from chmcnn.datasets.catalogue import catalogue
from chmcnn.errors import ChmcnnError, DatasetError
from chmcnn.experiments import published, recipes
from chmcnn.experiments.section import Check, Section, SectionTable, Value

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from chmcnn.experiments.context import Context
    from chmcnn.experiments.recipes import Benchmark

SYSTEMS = ("h+", "h+MCM", "C-HMCNN")
DATASETS = tuple(name for name in catalogue().entries if name.endswith("_FUN"))


@dataclass(frozen=True, slots=True, eq=False)
class Table3:
    """Our runs, one per row, and means by data set and system, of the data sets that have all systems."""

    runs: pd.DataFrame
    scores: dict[str, pd.DataFrame]  # by recipe: data sets x systems, AU(PRC) on the validation rows
    epochs: dict[str, pd.DataFrame]  # by recipe: the best number
    seeds: dict[str, str]  # by recipe: the number behind each mean


def run(context: Context, benchmark: Benchmark) -> dict[str, str]:
    """Train and validate h+, h+MCM and C-HMCNN on each data set, and store each run in a file.

    Returns
    -------
    Data sets without a result, because their files are not available, with the reason.
    """
    for name in benchmark.datasets:
        if name not in DATASETS:
            raise DatasetError(f"Table 3 has no data set {name!r}; it has {', '.join(DATASETS)}.")
    if benchmark.recipe == "best":
        raise ChmcnnError("Table 3 compares the losses of one network; use the recipe 'default' or 'paper'.")
    return recipes.run(context, benchmark, SYSTEMS)


def collect(folder: Path) -> Table3 | None:
    """Read the results in a folder; return None unless every system has one."""
    runs = recipes.collect(folder / "runs", SYSTEMS)
    if runs is None:
        return None
    scores, epochs = _by_recipe(runs, "validation_auprc"), _by_recipe(runs, "best_epoch")
    means = recipes.means(runs, "best_epoch").groupby("recipe")
    seeds = {str(recipe): recipes.seeds(group) for recipe, group in means}
    return Table3(runs, scores, epochs, seeds) if scores else None


def _by_recipe(runs: pd.DataFrame, measure: str) -> dict[str, pd.DataFrame]:
    tables = {}
    for recipe, means in recipes.means(runs, measure).groupby("recipe", sort=False):
        wide = means.pivot_table(index="dataset", columns="system", values="mean", sort=False)
        whole = wide.reindex(columns=list(SYSTEMS)).dropna().rename_axis(index=None, columns=None)
        if len(whole):
            tables[str(recipe)] = whole
    return tables


def section(result: Table3) -> Section:
    """Turn the results into a section of the page."""
    ablation = published.ablation()
    return Section(
        name="table3",
        title="Table 3: the effect of the layer and of the loss",
        text="h+ is the network with plain cross-entropy, made coherent afterwards; h+MCM adds the max-constraint "
        "layer and trains through it with plain cross-entropy; C-HMCNN has the layer and the paper's loss. All are "
        "scored on the validation rows of their early stopping. Means and ranks exclude data sets with a "
        "reconstructed train file.",
        command=recipes.commands(result.runs),
        checks=tuple(
            _check(recipe, how, scores, ablation["validation AU(PRC)"])
            for recipe, scores in result.scores.items()
            for how in ("means", "average ranks")
            if len(recipes.genuine(scores))
        ),
        tables=tuple(
            table
            for recipe, scores in result.scores.items()
            for table in (
                _compare(
                    f"AU(PRC) on the validation rows, {recipe} recipe",
                    scores,
                    ablation["validation AU(PRC)"],
                    4,
                    f"Ours: means of {result.seeds[recipe]}.",
                ),
                _compare(
                    f"Epochs, {recipe} recipe",
                    result.epochs[recipe],
                    ablation["epochs"],
                    0,
                    "Ours: the epoch with the best score on the validation rows. The published ones use batches of 4, "
                    "so each has more steps than an epoch of the default recipe.",
                ),
            )
        ),
    )


def _check(recipe: str, how: str, scores: pd.DataFrame, figures: pd.DataFrame) -> Check:
    scores = recipes.genuine(scores)
    theirs, ours = _summarise(figures.loc[scores.index], how), _summarise(scores, how)
    agrees = list(theirs.index) == list(ours.index)
    return Check(
        f"order of the {how} over {_wording.count(len(scores), 'data set')}, {recipe} recipe",
        _order(theirs),
        _order(ours),
        agrees,
        "" if agrees else _why(ours, theirs, recipe),
    )


def _why(ours: pd.Series[float], theirs: pd.Series[float], recipe: str) -> str:
    moved = [str(name) for name, other in zip(ours.index, theirs.index, strict=True) if name != other]
    apart = abs(float(ours[moved[0]] - ours[moved[-1]]))
    settings = "; the recipe is not the paper's" if recipe == "default" else ""
    return f"{' and '.join(moved)} swapped places and differ by {apart:.4f}{settings}"


def _summarise(table: pd.DataFrame, how: str) -> pd.Series[float]:
    """Return the mean or the average rank of each system, the best first."""
    if how == "means":
        return table.mean().sort_values(ascending=False, kind="stable")
    return table.rank(axis=1, ascending=False).mean().sort_values(kind="stable")


def _order(summed: pd.Series[float]) -> str:
    return ", ".join(f"{name} {value:.4f}" if value < 1 else f"{name} {value:.2f}" for name, value in summed.items())


def _compare(title: str, ours: pd.DataFrame, figures: pd.DataFrame, digits: int, note: str) -> SectionTable:
    """Put our result of each system beside the published one, with the means."""
    theirs = figures.loc[[recipes.plain(name) for name in ours.index]].set_axis(ours.index)
    rows: list[tuple[Value, ...]] = [
        (str(name), *(float(table[system][name]) for system in SYSTEMS for table in (ours, theirs)))
        for name in ours.index
    ]
    means = (recipes.genuine(table)[system].mean() for system in SYSTEMS for table in (ours, theirs))
    rows.append(("mean", *map(float, means)))
    heads = tuple(f"{system}{which}" for system in SYSTEMS for which in ("", ", published"))
    return SectionTable(title, ("data set", *heads), tuple(rows), digits=digits, note=note, summed=True)

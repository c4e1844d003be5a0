"""Table 3: what the layer and the loss each bring, ours beside the published figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn import _wording
from chmcnn.experiments import published, recipes, table3
from chmcnn.report.paper.section import Check, Section, Table, Value

if TYPE_CHECKING:
    import pandas as pd

    from chmcnn.experiments.table3 import Table3


def section(result: Table3) -> Section:
    """The tables of scores and of epochs, and whether systems are in the published order."""
    figures = published.ablation()
    return Section(
        name="table3",
        title="Table 3: what the layer and the loss bring",
        text="h+ is the network with plain cross-entropy, made coherent afterwards; h+MCM has the max-constraint layer "
        "on top, and is trained through it with plain cross-entropy; C-HMCNN has the layer and the paper's loss. All "
        "are scored on the validation rows that they were stopped by. A data set with a reconstructed train "
        "file is not the paper's, and is left out of means and ranks.",
        command=recipes.commands(result.runs),
        checks=tuple(
            _check(recipe, how, scores, figures["validation AU(PRC)"])
            for recipe, scores in result.scores.items()
            for how in ("means", "average ranks")
            if len(recipes.genuine(scores))
        ),
        tables=tuple(
            table
            for recipe, scores in result.scores.items()
            for table in (
                _beside(
                    f"AU(PRC) on the validation rows, {recipe} recipe",
                    scores,
                    figures["validation AU(PRC)"],
                    4,
                    f"Ours: means of {result.seeds[recipe]}.",
                ),
                _beside(
                    f"Epochs, {recipe} recipe",
                    result.epochs[recipe],
                    figures["epochs"],
                    0,
                    "Ours: the one with the best score on the validation rows. The published ones have batches of 4, "
                    "and so more steps in each, than those of the default recipe.",
                ),
            )
        ),
    )


def _check(recipe: str, how: str, scores: pd.DataFrame, figures: pd.DataFrame) -> Check:
    scores = recipes.genuine(scores)
    theirs, ours = _summed(figures.loc[scores.index], how), _summed(scores, how)
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
    return f"{' and '.join(moved)} have changed places, and are {apart:.4f} apart{settings}"


def _summed(table: pd.DataFrame, how: str) -> pd.Series[float]:
    """The mean or the average rank of each system, the best first."""
    if how == "means":
        return table.mean().sort_values(ascending=False, kind="stable")
    return table.rank(axis=1, ascending=False).mean().sort_values(kind="stable")


def _order(summed: pd.Series[float]) -> str:
    return ", ".join(f"{name} {value:.4f}" if value < 1 else f"{name} {value:.2f}" for name, value in summed.items())


def _beside(title: str, ours: pd.DataFrame, figures: pd.DataFrame, digits: int, note: str) -> Table:
    """Ours and the published figure of each system, and the means."""
    theirs = figures.loc[[recipes.plain(name) for name in ours.index]].set_axis(ours.index)
    rows: list[tuple[Value, ...]] = [
        (str(name), *(float(table[system][name]) for system in table3.SYSTEMS for table in (ours, theirs)))
        for name in ours.index
    ]
    means = (recipes.genuine(table)[system].mean() for system in table3.SYSTEMS for table in (ours, theirs))
    rows.append(("mean", *map(float, means)))
    heads = tuple(f"{system}{which}" for system in table3.SYSTEMS for which in ("", ", published"))
    return Table(title, ("data set", *heads), tuple(rows), digits=digits, note=note, summed=True)

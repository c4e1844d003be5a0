"""Table 3: what the layer and the loss each bring, ours beside the published figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        "are scored on the validation rows that they were stopped by.",
        command="chmcnn reproduce table3",
        checks=tuple(_check(recipe, scores, figures["validation AU(PRC)"]) for recipe, scores in result.scores.items()),
        tables=tuple(
            table
            for recipe, scores in result.scores.items()
            for table in (
                _beside(f"AU(PRC) on the validation rows, {recipe} recipe", scores, figures["validation AU(PRC)"], 4),
                _beside(f"Best epoch, {recipe} recipe", result.epochs[recipe], figures["epochs"], 0),
            )
        ),
    )


def _check(recipe: str, scores: pd.DataFrame, figures: pd.DataFrame) -> Check:
    theirs = figures.loc[[recipes.plain(name) for name in scores.index]].mean()
    ours = scores.mean()
    return Check(
        f"order of the means over {len(scores)} data sets, {recipe} recipe",
        _order(theirs),
        _order(ours),
        _names(theirs) == _names(ours),
    )


def _names(means: pd.Series[float]) -> list[str]:
    return [str(name) for name in means.sort_values(ascending=False, kind="stable").index]


def _order(means: pd.Series[float]) -> str:
    return " > ".join(f"{name} {means[name]:.4f}" for name in _names(means))


def _beside(title: str, ours: pd.DataFrame, figures: pd.DataFrame, digits: int) -> Table:
    """Ours and the published figure of each system, and the means."""
    theirs = figures.loc[[recipes.plain(name) for name in ours.index]].set_axis(ours.index)
    rows: list[tuple[Value, ...]] = [
        (str(name), *(float(table[system][name]) for system in table3.SYSTEMS for table in (ours, theirs)))
        for name in ours.index
    ]
    rows.append(("mean", *(float(table[system].mean()) for system in table3.SYSTEMS for table in (ours, theirs))))
    heads = tuple(f"{system}{which}" for system in table3.SYSTEMS for which in ("", ", published"))
    return Table(title, ("data set", *heads), tuple(rows), digits=digits)

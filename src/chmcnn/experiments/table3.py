"""Table 3: what the layer and the loss each bring, on the validation rows of the FunCat data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chmcnn.datasets.catalogue import catalogue
from chmcnn.errors import DatasetError
from chmcnn.experiments import recipes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

SYSTEMS = ("h+", "h+MCM", "C-HMCNN")
DATASETS = tuple(name for name in catalogue().entries if name.endswith("_FUN"))


@dataclass(frozen=True, slots=True, eq=False)
class Table3:
    """Our results, one row each, and means by data set and system of the data sets that all systems have."""

    runs: pd.DataFrame
    scores: dict[str, pd.DataFrame]  # by recipe: data sets x systems, AU(PRC) on the validation rows
    epochs: dict[str, pd.DataFrame]  # by recipe: how many were best
    seeds: dict[str, str]  # by recipe: how many results each mean is of


def refuse_others(datasets: Sequence[str]) -> None:
    """Refuse data sets that the table does not have, before any work is done for them."""
    for name in datasets:
        if name not in DATASETS:
            raise DatasetError(f"Table 3 has no data set {name!r}; it has {', '.join(DATASETS)}.")


def collect(folder: Path) -> Table3 | None:
    """Read all results; None where there is none of every system."""
    runs = recipes.collect(folder / "runs", SYSTEMS)
    if runs is None:
        return None
    scores, epochs = _by_recipe(runs, "validation_auprc"), _by_recipe(runs, "best_epoch")
    means = recipes.means(runs, "best_epoch").groupby("recipe")
    seeds = {str(recipe): recipes.seeds(group) for recipe, group in means}
    return Table3(runs, scores, epochs, seeds) if scores else None


def _by_recipe(runs: pd.DataFrame, measure: str) -> dict[str, pd.DataFrame]:
    found = {}
    for recipe, means in recipes.means(runs, measure).groupby("recipe", sort=False):
        wide = means.pivot_table(index="dataset", columns="system", values="mean", sort=False)
        whole = wide.reindex(columns=list(SYSTEMS)).dropna().rename_axis(index=None, columns=None)
        if len(whole):
            found[str(recipe)] = whole
    return found

"""Table 2: AU(PRC) on the test rows of the 20 data sets, by the default recipe and by the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chmcnn.experiments import published, recipes

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

SYSTEM = "C-HMCNN"
NEAR = 0.005
"""How far a mean by the paper's recipe may be from the published figure."""
BELOW = 0.003
"""How far a mean by the default recipe may be below it."""


@dataclass(frozen=True, slots=True, eq=False)
class Table2:
    """Our results, one row each, and their means beside the published figure."""

    runs: pd.DataFrame
    summary: pd.DataFrame  # dataset, recipe, mean, deviation, seeds, reconstructed, published, difference, good

    def scores(self, recipe: recipes.Recipe) -> pd.Series[float]:
        """The mean on each data set by one recipe."""
        chosen = self.summary[self.summary["recipe"] == recipe]
        return chosen.set_index("dataset")["mean"]

    def compared(self, recipe: recipes.Recipe) -> pd.DataFrame:
        """The published table on those data sets, with ours in place of the published C-HMCNN.

        Data sets with a reconstructed train file are not the published ones, and are left out.
        """
        ours = recipes.genuine(self.scores(recipe).to_frame())["mean"]
        return published.auprc().drop(columns="DHN").loc[ours.index].assign(**{SYSTEM: ours})


def collect(folder: Path) -> Table2 | None:
    """Read all results; None where there is none."""
    runs = recipes.collect(folder / "runs", [SYSTEM])
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

"""The statistics of the paper's comparison, for the published table and for our results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn import significance
from chmcnn.errors import ScoreError
from chmcnn.experiments import published
from chmcnn.experiments.section import Check, Picture, Section, SectionTable
from chmcnn.report import significance as diagram

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

OURS, RIVAL = "C-HMCNN", "HMCN-F"
_PUBLISHED = {
    "average rank, C-HMCNN": "1.25",
    "average rank, HMC-LMLP": "5.00",
    "average rank, Clus-Ens": "3.93",
    "average rank, HMCN-R": "2.93",
    "average rank, HMCN-F": "1.90",
    "Friedman, p": "4.26e-15",
    "Wilcoxon against HMCN-F, p": "6.01e-03",
}


def collect(_folder: Path) -> pd.DataFrame:
    """Return the published table; this experiment needs no runs."""
    return published.auprc().drop(columns="DHN")


def section(table: pd.DataFrame) -> Section:
    """Turn the statistics of the published table into a section of the page."""
    values = compute_statistics(table)
    return Section(
        name="significance",
        title="Significance of the published table",
        text="Average ranks, the Friedman test, Nemenyi's critical difference and the Wilcoxon signed-rank test "
        "against HMCN-F, computed from the published AU(PRC) on 20 data sets. A missing result is ranked last; "
        "Wilcoxon's p-value uses the normal approximation.",
        command="chmcnn reproduce significance",
        checks=(
            *(
                Check(name, value, _format(name, values[name]), _format(name, values[name]) == value)
                for name, value in _PUBLISHED.items()
            ),
            _differing(table),
        ),
        tables=(statistics(table, "Statistics"),),
        pictures=pictures(table, "published", "The published table"),
    )


def _differing(table: pd.DataFrame) -> Check:
    """Check the systems that the paper reads off its diagram."""
    result = significance.nemenyi(table)
    apart = result.ranks - result.ranks[OURS]
    differing = ", ".join(sorted(str(name) for name in apart.index[apart >= result.critical_difference]))
    expected = "Clus-Ens, HMC-LMLP, HMCN-R"
    return Check(
        "systems that C-HMCNN differs from significantly (Nemenyi, level 0.05)",
        expected,
        differing,
        differing == expected,
    )


def compute_statistics(table: pd.DataFrame) -> dict[str, float]:
    """Return ranks and tests of a table of data sets x systems, without those that need a larger table."""
    values: dict[str, float] = {}
    try:
        values |= {f"average rank, {name}": float(rank) for name, rank in significance.ranks(table).items()}
        values["Friedman, p"] = significance.friedman(table).p
        values["Nemenyi, critical difference"] = significance.nemenyi(table).critical_difference
        values[f"Wilcoxon against {RIVAL}, p"] = significance.wilcoxon(table[OURS], table[RIVAL]).p
    except ScoreError:
        return values
    return values


def statistics(table: pd.DataFrame, title: str) -> SectionTable:
    """Return the statistics as a table."""
    rows = tuple((name, _format(name, value)) for name, value in compute_statistics(table).items())
    return SectionTable(title, ("statistic", "value"), rows, note=f"Over {len(table)} data sets.")


def pictures(table: pd.DataFrame, name: str, caption: str) -> tuple[Picture, ...]:
    """Return the critical-difference diagram; nothing if the table is too small."""
    try:
        result = significance.nemenyi(table)
    except ScoreError:
        return ()
    text = f"{caption}: average ranks over {len(table)} data sets; bars connect those that do not differ significantly."
    return (Picture(f"ranks-{name}", text, diagram.draw(result)),)


def _format(name: str, value: float) -> str:
    if name.startswith("average rank"):
        return f"{value + 1e-9:.2f}"  # 3.925 is 3.93, as in the paper
    return f"{value:.3f}" if name.startswith("Nemenyi") else f"{value:.2e}"

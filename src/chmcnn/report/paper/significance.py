"""The statistics of the paper's comparison, of the published table and of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn import significance
from chmcnn.errors import ScoreError
from chmcnn.experiments import published
from chmcnn.report import significance as diagram
from chmcnn.report.paper.section import Check, Picture, Section, Table

if TYPE_CHECKING:
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


def section() -> Section:
    """The paper's own figures, from its own table."""
    table = published.auprc().drop(columns="DHN")
    found = figures(table)
    return Section(
        name="significance",
        title="Significance of the published table",
        text="Average ranks, the Friedman test, Nemenyi's critical difference and the Wilcoxon signed-rank test "
        "against HMCN-F, computed from the published AU(PRC) figures of 20 data sets. A missing result is ranked last; "
        "Wilcoxon's p-value is that of the normal approximation.",
        command="chmcnn reproduce significance",
        checks=(
            *(
                Check(name, value, _shown(name, found[name]), _shown(name, found[name]) == value)
                for name, value in _PUBLISHED.items()
            ),
            _differing(table),
        ),
        tables=(statistics(table, "Statistics"),),
        pictures=pictures(table, "published", "The published table"),
    )


def _differing(table: pd.DataFrame) -> Check:
    """What the paper reads off its diagram."""
    found = significance.nemenyi(table)
    apart = found.ranks - found.ranks[OURS]
    differing = ", ".join(sorted(str(name) for name in apart.index[apart >= found.critical_difference]))
    expected = "Clus-Ens, HMC-LMLP, HMCN-R"
    return Check(
        "systems that C-HMCNN differs from significantly (Nemenyi, level 0.05)",
        expected,
        differing,
        differing == expected,
    )


def figures(table: pd.DataFrame) -> dict[str, float]:
    """Ranks and tests of a table of data sets x systems; those that it is too small for are left out."""
    found: dict[str, float] = {}
    try:
        found |= {f"average rank, {name}": float(rank) for name, rank in significance.ranks(table).items()}
        found["Friedman, p"] = significance.friedman(table).p
        found["Nemenyi, critical difference"] = significance.nemenyi(table).critical_difference
        found[f"Wilcoxon against {RIVAL}, p"] = significance.wilcoxon(table[OURS], table[RIVAL]).p
    except ScoreError:
        return found
    return found


def statistics(table: pd.DataFrame, title: str) -> Table:
    """The same figures as a table."""
    rows = tuple((name, _shown(name, value)) for name, value in figures(table).items())
    return Table(title, ("statistic", "value"), rows, note=f"Over {len(table)} data sets.")


def pictures(table: pd.DataFrame, name: str, caption: str) -> tuple[Picture, ...]:
    """The critical-difference diagram; none where there is nothing to tell apart."""
    try:
        found = significance.nemenyi(table)
    except ScoreError:
        return ()
    text = (
        f"{caption}: average ranks over {len(table)} data sets; a bar joins systems that do not differ significantly."
    )
    return (Picture(f"ranks-{name}", text, diagram.draw(found)),)


def _shown(name: str, value: float) -> str:
    if name.startswith("average rank"):
        return f"{value + 1e-9:.2f}"  # 3.925 is 3.93, as in the paper
    return f"{value:.3f}" if name.startswith("Nemenyi") else f"{value:.2e}"

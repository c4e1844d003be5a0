"""Tables of our results beside the published ones, for `benchmarks.report`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.markdown import table
from chmcnn import comparison
from chmcnn.experiments import published, recipes, registry, table3
from chmcnn.experiments.section import format_cells

if TYPE_CHECKING:
    import pandas as pd

RUNS = Path(__file__).parent.parent / "results"
"""The result files of experiments and comparisons."""


def systems() -> str:
    """Test AU(PRC) of all systems beside the published figures."""
    found, theirs = comparison.collect(RUNS / "systems" / "runs"), published.auprc()
    datasets = list(dict.fromkeys(found["dataset"]))
    groups = dict(iter(found.groupby(["system", "dataset"])["auprc"]))
    cells = [
        [name, *(_cell(groups.get((name, each)), theirs[name].get(each, math.nan)) for each in datasets)]
        for name in dict.fromkeys(found["system"])
    ]
    said = "Test rows: mean and deviation, in brackets the seeds, and then the published figure."
    return f"{table(['system', *datasets], cells)}\n{said} Run by `{found['command'].iloc[0]}`.\n"


def _cell(ours: "pd.Series[float] | None", theirs: float) -> str:
    shown = "-" if math.isnan(theirs) else f"{theirs:.3f}"
    if ours is None:
        return f"not run; {shown}"
    deviation = f" ± {ours.std():.3f}" if len(ours) > 1 else ""
    return f"{ours.mean():.3f}{deviation} ({len(ours)}); {shown}"


def ablation() -> str:
    """Validation AU(PRC) of the paper's variants beside its Table 3."""
    found, theirs = table3.collect(RUNS / "table3"), published.ablation()["validation AU(PRC)"]
    if found is None:
        raise AssertionError("there are no results of table3")
    means = recipes.genuine(found.scores["default"])
    cells = [[name, *(f"{means[each][name]:.3f} ({theirs[each][name]:.3f})" for each in means)] for name in means.index]
    overall = [f"**{means[each].mean():.4f}** ({theirs[each][means.index].mean():.4f})" for each in means]
    shown = table(["data set", *means], [*cells, ["mean", *overall]])
    said = f"Validation rows, means of {found.seeds['default']}, and in brackets the published figure."
    return f"{shown}\n{said} Run by `{recipes.commands(found.runs)}`.\n"


def checks() -> str:
    """Return all comparisons with the paper."""
    sections = [section for name in registry.EXPERIMENTS if (section := registry.read_section(name, RUNS))]
    cells = [
        [
            section.name,
            check.claim,
            f"goal: {check.published}" if check.goal else check.published,
            check.ours,
            "yes" if check.agrees else f"**no** {check.why}".strip(),
        ]
        for section in sections
        for check in section.checks
    ]
    header = ["experiment", "comparison", "published, or our own goal", "ours", "agrees"]
    return f"{table(header, cells)}\nMade by `chmcnn reproduce all`.\n"


def table2() -> str:
    """Return our AU(PRC) on the test rows beside the published ones, and the missed targets."""
    section = registry.read_section("table2", RUNS)
    if section is None:
        raise AssertionError("there are no results of table2")
    scores, missed = (
        f"{table(list(found.columns), format_cells(found))}\n{found.note}" for found in section.tables[:2]
    )
    commands = "".join(f"- `{command}`\n" for command in section.commands)
    folded = f"<details>\n<summary>Commands that ran these runs</summary>\n\n{commands}\n</details>"
    return f"{scores}\n\n{folded}\n\n{section.tables[1].title}:\n\n{missed}".rstrip() + "\n"

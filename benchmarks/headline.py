"""The figures of the README, from the results of other measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import faults_report
from benchmarks.cost import OURS
from benchmarks.markdown import table
from benchmarks.measure import load
from chmcnn.experiments import recipes, table2

if TYPE_CHECKING:
    from pathlib import Path


def report(results: Path) -> str:
    """Return accuracy, cost, growth and faults, one line each, with the pages that have all of it."""
    cells = [_compare_accuracy(results), _compare_cost(), _describe_growth(), _count_faults()]
    return table(["question", "figure", "all of it"], cells)


def _compare_accuracy(results: Path) -> list[str]:
    found = table2.collect(results / "table2")
    if found is None:
        raise AssertionError("there are no results of table2")
    best = found.summary[(found.summary["recipe"] == "best") & ~found.summary["reconstructed"]]
    gains = best["difference"]
    figure = (
        f"`--preset best` is above the published C-HMCNN on {int((gains > 0).sum())} of {len(gains)} data sets whose "
        f"files we have, by {gains.mean():.3f} in test AU(PRC) on average ({recipes.seeds(best)})"
    )
    return ["Is it accurate?", figure, "[the paper, reproduced](docs/reproduction.md#table-2)"]


def _compare_cost() -> list[str]:
    steps = [row for row in load("cost")["rows"] if (row["what"], row["system"]) == ("training step", OURS)]
    ratios = [row["times_plain"] for row in steps]
    figure = f"a training step takes {min(ratios):.2f} to {max(ratios):.2f} times one without any constraint"
    return ["What does it cost?", figure, "[benchmarks](docs/benchmarks.md#a-training-step)"]


def _describe_growth() -> list[str]:
    rows = load("growth")["rows"]
    classes = max(row["classes"] for row in rows)
    time, memory = (
        max(row[key] for row in rows if row["classes"] == classes) for key in ("loss_milliseconds", "process_peak_mib")
    )
    figure = (
        f"the loss and its gradient take {time:.0f} ms for 4 rows with {classes:,} classes, in a process of "
        f"{memory / 1024:.1f} GiB"
    )
    return ["How far does it go?", figure, "[growth](docs/benchmarks.md#growth), [beyond one machine](docs/scaling.md)"]


def _count_faults() -> list[str]:
    files, killed = (
        sum(row[key] for row in load(name)["rows"]) for name, key in (("fuzz", "files"), ("soak", "killed"))
    )
    (models,), failed = load("altered")["rows"], sum(int(trial[2]) for trial in faults_report.list_trials())
    figure = (
        f"of {files:,} altered files, {models['models']:,} altered models and {killed:,} killed trainings, "
        f"predictions, comparisons and searches, {failed or 'none'} ran code, lost a result or gave an unclear error"
    )
    return ["Does it hold?", figure, "[security](SECURITY.md#what-was-tried)"]

"""What tables 2 and 3 share: data sets, recipes, runs and their results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from chmcnn import _wording, comparison
from chmcnn.comparison import Source
from chmcnn.datasets.catalogue import catalogue
from chmcnn.datasets.registry import load, locate
from chmcnn.errors import ChmcnnError, DatasetError, DownloadError, FileError
from chmcnn.experiments import published

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import pandas as pd

    from chmcnn.experiments.context import Context

Recipe = Literal["default", "paper", "best"]
RECIPES: tuple[Recipe, ...] = get_args(Recipe)
ENSEMBLE = "best"
"""The system of the recipe ``"best"``, in place of a network."""
RECONSTRUCTED = " (reconstructed train)"
"""Suffix of the name of a data set whose train file is not the benchmark's."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What tables 2 and 3 are run on.

    Parameters
    ----------
    datasets
        Names of data sets.
    recipe
        ``"default"``, ``"paper"`` for batches of 4 and the paper's settings for each data set, or ``"best"`` for the
        ensemble of that name.
    seeds
        Number of runs per data set, with seeds from 0.
    reconstructed
        Folder with train files, such as expr_FUN.train.arff, for data sets whose own is not available. The names of
        these data sets get a suffix that says so.
    """

    datasets: Sequence[str]
    recipe: Recipe = "default"
    seeds: int = 10
    reconstructed: Path | None = None


def options(recipe: Recipe, dataset: str) -> dict[str, Any]:
    """Return the parameters of a system: the paper's preset and settings for its recipe, none for the others.

    >>> options("paper", "spo_FUN")
    {'preset': 'paper', 'widths': [250, 250], 'learning_rate': 0.0001}
    """
    if recipe not in RECIPES:
        raise ChmcnnError(f"recipe is {recipe!r}; expected one of {', '.join(map(repr, RECIPES))}.")
    if recipe != "paper":
        return {}
    settings: dict[str, float] = published.inference().T.to_dict()[plain(dataset)]
    width = int(settings["hidden units"])
    return {"preset": "paper", "widths": [width, width], "learning_rate": settings["learning rate"]}


def plain(dataset: str) -> str:
    """Return the name of a data set without the suffix of a reconstructed train file."""
    return dataset.removesuffix(RECONSTRUCTED)


def genuine(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of data sets without those that have a reconstructed train file."""
    return table[[name == plain(name) for name in table.index]]


def run(context: Context, benchmark: Benchmark, systems: Sequence[str]) -> dict[str, str]:
    """Run the systems on all data sets with the first seed, then with the second, and so on; skip finished runs.

    Returns
    -------
    Data sets without a result, because their files are not available, with the reason.
    """
    from chmcnn.report.comparison_terminal import ComparisonDisplay

    sources, missing = _find_sources(context, benchmark)
    for name, reason in missing.items():
        context.notify(f"Skipping {name}: {reason}")
    planned = _plan_runs(sources, benchmark, systems)
    with ComparisonDisplay(systems, len(planned), quiet=context.quiet) as progress:
        execution = comparison.Execution(context.jobs, context.command, progress, context.executor)
        runs = [run for _, run in comparison.iterate_results(planned, context.folder / "runs", execution)]
    for run in runs:
        if run.figures is None:
            context.warn(f"{run.spec.system} has no result on {run.spec.dataset}: {run.reason}")
    return missing


def _find_sources(context: Context, benchmark: Benchmark) -> tuple[list[Source], dict[str, str]]:
    """Find or download the files of the data sets; return also why some are not available."""
    folder = benchmark.reconstructed
    if folder and not folder.is_dir():
        raise DatasetError(f"The folder of reconstructed files, {folder}, does not exist; choose another one.")
    sources, missing = [], {}
    for name in benchmark.datasets:
        train_file = folder / f"{name}.train.arff" if folder else None
        try:
            if train_file and train_file.is_file():
                data = load(name, data_dir=context.data_dir, named={"train": train_file}, quiet=context.quiet)
                sources.append(Source(name + RECONSTRUCTED, data))
            else:
                locate(catalogue()[name].files.values(), context.data_dir, quiet=context.quiet)
                sources.append(Source(name, data_dir=context.data_dir))
        except DownloadError as error:
            missing[name] = str(error)
    if not sources:
        raise DatasetError(next(iter(missing.values()), "datasets is empty; expected names of data sets."))
    return sources, missing


def _plan_runs(sources: Sequence[Source], benchmark: Benchmark, systems: Sequence[str]) -> list[comparison.PlannedRun]:
    digests = {source.name: source.digest() for source in sources}
    return [
        comparison.PlannedRun(
            comparison.RunSpec(source.name, system, options(benchmark.recipe, source.name), seed),
            source,
            digests[source.name],
        )
        for seed in range(benchmark.seeds)
        for source in sources
        for system in systems
    ]


def collect(folder: Path, systems: Collection[str]) -> pd.DataFrame | None:
    """Read all results into a table, in the order of the published tables; return None if there are none."""
    table = comparison.collect(folder).dropna(subset="auprc")
    if table.empty:
        return None
    table.insert(0, "recipe", [_find_recipe(*row) for row in zip(table["system"], table["options"], strict=True)])
    for row in table.to_dict("records"):
        spec = comparison.RunSpec(row["dataset"], row["system"], row["options"], row["seed"])
        _refuse_others(spec, row["recipe"], systems, folder)
    order = {name: place for place, name in enumerate(catalogue().entries)}
    return table.sort_values(
        by=["dataset", "seed"], key=lambda column: column.map(lambda value: order.get(plain(str(value)), value))
    ).reset_index(drop=True)


def _find_recipe(system: str, parameters: dict[str, Any]) -> str:
    preset: str = parameters.get("preset", "default")
    return "best" if system == ENSEMBLE else preset


def _refuse_others(spec: comparison.RunSpec, recipe: Recipe, systems: Collection[str], folder: Path) -> None:
    """Refuse a result of other settings: it must not stand beside published results."""
    is_known = plain(spec.dataset) in catalogue().entries and recipe in RECIPES
    if not is_known or spec.system not in systems or spec.options != options(recipe, spec.dataset):
        run = f"{spec.system} on {spec.dataset!r} with {dict(spec.options)}"
        raise FileError(f"the result of {run} follows no recipe of this table; move it elsewhere", spec.path(folder))


def commands(table: pd.DataFrame) -> str:
    """Return all commands that made the results, without options that do not change them.

    >>> import pandas as pd
    >>> commands(pd.DataFrame({"command": ["chmcnn reproduce table2 --jobs 2", "chmcnn reproduce table2 --quiet"]}))
    'chmcnn reproduce table2'
    """
    idle = re.compile(r" (--jobs \S+|--cluster \S+|--quiet|-q|--json)(?= |$)")
    return "; ".join(dict.fromkeys(idle.sub("", command) for command in table["command"]))


def means(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return mean, standard deviation and number of results of each data set, system and recipe."""
    grouped = table.groupby(["dataset", "system", "recipe"], sort=False)[measure]
    return grouped.agg(mean="mean", deviation="std", seeds="count").reset_index()


def seeds(means: pd.DataFrame) -> str:
    """Return the number of seeds behind each of these means.

    >>> import pandas as pd
    >>> seeds(pd.DataFrame({"seeds": [3, 3]})), seeds(pd.DataFrame({"seeds": [1, 3]}))
    ('3 seeds', '1 to 3 seeds')
    """
    least, most = means["seeds"].min(), means["seeds"].max()
    return _wording.count(least, "seed") if least == most else f"{least} to {most} seeds"

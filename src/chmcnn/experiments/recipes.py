"""What tables 2 and 3 have in common: the benchmark's data sets, the recipes, and their results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from chmcnn import _wording, comparison
from chmcnn.comparison import Source
from chmcnn.datasets.catalogue import catalogue
from chmcnn.datasets.registry import load, locate
from chmcnn.errors import ChmcnnError, DatasetError, DownloadError, FileError
from chmcnn.experiments import published

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

Recipe = Literal["default", "paper"]
RECIPES: tuple[Recipe, ...] = get_args(Recipe)
RECONSTRUCTED = " (reconstructed train)"
"""What the name of a data set ends in if its train file is not the benchmark's."""


class Sources(NamedTuple):
    """Data that can be run on, and why some cannot."""

    found: tuple[Source, ...]
    missing: Mapping[str, str]


def sources(
    datasets: Sequence[str], *, data_dir: Path | None = None, reconstructed: Path | None = None, quiet: bool = False
) -> Sources:
    """Find the files of data sets, and download those that are not here.

    ``reconstructed`` is a folder with train files, such as expr_FUN.train.arff, for data sets whose own is not to be
    had. These have another name, which says so.
    """
    if reconstructed and not reconstructed.is_dir():
        raise DatasetError(f"The folder of reconstructed files, {reconstructed}, is not there; name one that is.")
    found, missing = [], {}
    for name in datasets:
        entry = catalogue()[name]
        own = reconstructed / f"{name}.train.arff" if reconstructed else None
        try:
            if own and own.is_file():
                data = load(name, data_dir=data_dir, named={"train": own}, quiet=quiet)
                found.append(Source(name + RECONSTRUCTED, data))
            else:
                locate(entry.files.values(), data_dir, quiet=quiet)
                found.append(Source(name, data_dir=data_dir))
        except DownloadError as error:
            missing[name] = str(error)
    if not found:
        raise DatasetError(next(iter(missing.values()), "No data set is named."))
    return Sources(tuple(found), missing)


def options(recipe: Recipe, dataset: str) -> dict[str, Any]:
    """What a system is given: nothing by the default recipe; by the paper's, its preset and that data set's settings.

    >>> options("paper", "spo_FUN")
    {'preset': 'paper', 'widths': [250, 250], 'learning_rate': 0.0001}
    """
    if recipe not in RECIPES:
        raise ChmcnnError(f"recipe is {recipe!r}; expected one of {', '.join(map(repr, RECIPES))}.")
    if recipe == "default":
        return {}
    settings: dict[str, float] = published.inference().T.to_dict()[plain(dataset)]
    width = int(settings["hidden units"])
    return {"preset": "paper", "widths": [width, width], "learning_rate": settings["learning rate"]}


def plain(dataset: str) -> str:
    """The name of a data set without the mark of a reconstructed train file."""
    return dataset.removesuffix(RECONSTRUCTED)


def genuine(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table of data sets without those that have a reconstructed train file."""
    return table[[name == plain(name) for name in table.index]]


def run(  # noqa: PLR0913 -- all by name
    folder: Path,
    *,
    found: Sequence[Source],
    systems: Sequence[str],
    recipe: Recipe,
    seeds: int,
    jobs: int | None = None,
    command: str = "",
    progress: comparison.Progress | None = None,
) -> list[comparison.Run]:
    """Run what is not finished yet: all data sets with the first seed, then with the second."""
    digests = {source.name: source.digest() for source in found}
    planned = [
        comparison.PlannedRun(
            comparison.RunSpec(source.name, system, options(recipe, source.name), seed), source, digests[source.name]
        )
        for seed in range(seeds)
        for source in found
        for system in systems
    ]
    execution = comparison.Execution(jobs, command, progress)
    return [run for _, run in comparison.iterate_results(planned, folder, execution)]


def collect(folder: Path, systems: Collection[str]) -> pd.DataFrame | None:
    """All results, one row each, with their recipe, in the order of the published tables; None where there is none."""
    table = comparison.collect(folder).dropna(subset="auprc")
    if table.empty:
        return None
    table.insert(0, "recipe", [given.get("preset", "default") for given in table["options"]])
    for row in table.to_dict("records"):
        cell = comparison.RunSpec(row["dataset"], row["system"], row["options"], row["seed"])
        _refuse_others(cell, row["recipe"], systems, folder)
    order = {name: place for place, name in enumerate(catalogue().entries)}
    return table.sort_values(
        by=["dataset", "seed"], key=lambda column: column.map(lambda value: order.get(plain(str(value)), value))
    ).reset_index(drop=True)


def _refuse_others(cell: comparison.RunSpec, recipe: Recipe, systems: Collection[str], folder: Path) -> None:
    """What is put beside published figures is of the recipes, and of nothing else."""
    known = plain(cell.dataset) in catalogue().entries and recipe in RECIPES
    if not known or cell.system not in systems or cell.options != options(recipe, cell.dataset):
        given = f"{cell.system} on {cell.dataset!r} with {dict(cell.options)}"
        raise FileError(f"it is of {given}, which is of no recipe of this table; move it elsewhere", cell.path(folder))


def commands(table: pd.DataFrame) -> str:
    """All commands that results were made by, without options that results do not depend on.

    >>> import pandas as pd
    >>> commands(pd.DataFrame({"command": ["chmcnn reproduce table2 --jobs 2", "chmcnn reproduce table2 --quiet"]}))
    'chmcnn reproduce table2'
    """
    idle = re.compile(r" (--jobs \S+|--quiet|-q|--json)(?= |$)")
    return "; ".join(dict.fromkeys(idle.sub("", command) for command in table["command"]))


def means(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean, deviation and number of results of each data set, system and recipe."""
    grouped = table.groupby(["dataset", "system", "recipe"], sort=False)[measure]
    return grouped.agg(mean="mean", deviation="std", seeds="count").reset_index()


def seeds(means: pd.DataFrame) -> str:
    """How many results each of these means is of.

    >>> import pandas as pd
    >>> seeds(pd.DataFrame({"seeds": [3, 3]})), seeds(pd.DataFrame({"seeds": [1, 3]}))
    ('3 seeds', '1 to 3 seeds')
    """
    least, most = means["seeds"].min(), means["seeds"].max()
    return _wording.count(least, "seed") if least == most else f"{least} to {most} seeds"

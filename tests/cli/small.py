"""The benchmark's data sets as small ones of other data, trained in a moment."""

from pathlib import Path
from typing import Any
from unittest import mock

from tests.cli.inside import run

from chmcnn.comparison._splits import Source
from chmcnn.datasets.synthetic import learnable
from chmcnn.experiments import recipes


def sources(_: object, benchmark: recipes.Benchmark) -> tuple[list[Source], dict[str, str]]:
    """Return small data for all data sets but those of expr."""
    names = [name for name in benchmark.datasets if not name.startswith("expr")]
    missing = {name: "it is not here." for name in benchmark.datasets if name.startswith("expr")}
    return [Source(name, learnable(rows=60, features=4, classes=6)) for name in names], missing


def options(recipe: recipes.Recipe, dataset: str) -> dict[str, Any]:
    """A small network."""
    del dataset
    return {"preset": recipe, "epochs": 2, "widths": [4]}


PATCHES: dict[str, Any] = {"_find_sources": sources, "options": options}


def run_small(arguments: tuple[str, ...], cwd: Path) -> None:
    """Run ``chmcnn`` with them, in a process that `tests.processes` starts."""
    with mock.patch.multiple(recipes, **PATCHES):
        raise SystemExit(run(*arguments, cwd=cwd).returncode)

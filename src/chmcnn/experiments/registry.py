"""All experiments by name, in the order of the page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from chmcnn._io import results
from chmcnn.experiments import (
    figure1,
    figure2,
    nine_rectangles,
    significance,
    table1,
    table2,
    table3,
    table4,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from chmcnn.experiments.section import Section


_Result = TypeVar("_Result")


def _read(
    collect: Callable[[Path], _Result | None], section: Callable[[_Result], Section], folder: Path
) -> Section | None:
    result = collect(folder)
    return None if result is None else section(result)


EXPERIMENTS: dict[str, Callable[[Path], Section | None]] = {
    "figure1": partial(_read, figure1.collect, figure1.section),
    "figure2": partial(_read, figure2.collect, figure2.section),
    "nine-rectangles": partial(_read, nine_rectangles.collect, nine_rectangles.section),
    "table1": partial(_read, table1.collect, table1.section),
    "table2": partial(_read, table2.collect, table2.section),
    "significance": partial(_read, significance.collect, significance.section),
    "table3": partial(_read, table3.collect, table3.section),
    "table4": partial(_read, table4.collect, table4.section),
}
"""For each experiment, a function that turns the results in its folder into a section; None if there are none."""


def read_section(name: str, folder: Path) -> Section | None:
    """Return the section of an experiment from the folder of all results; None if it has none."""
    return EXPERIMENTS[name](folder / name)


def read_versions(folder: Path) -> dict[str, str]:
    """Return the versions that made the results, several of a package with commas between them."""
    versions: dict[str, dict[str, None]] = {}
    for name in EXPERIMENTS:
        for path in sorted((folder / name).rglob("[!.]*.json")):
            for package, version in results.read(path).get("versions", {}).items():
                versions.setdefault(package, {})[version] = None
    return {package: ", ".join(numbers) for package, numbers in versions.items()}

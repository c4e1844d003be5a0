"""All experiments by name: what reads their results, and what makes a section of those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chmcnn._io import results
from chmcnn.experiments import figure1, figure2, nine_rectangles, table1, table2, table3, table4
from chmcnn.report.paper import figure1 as figure1_
from chmcnn.report.paper import figure2 as figure2_
from chmcnn.report.paper import nine_rectangles as nine_rectangles_
from chmcnn.report.paper import significance
from chmcnn.report.paper import table1 as table1_
from chmcnn.report.paper import table2 as table2_
from chmcnn.report.paper import table3 as table3_
from chmcnn.report.paper import table4 as table4_

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from chmcnn.report.paper.section import Section

_EXPERIMENTS: dict[str, tuple[Callable[[Path], Any], Callable[[Any], Section]]] = {
    "figure1": (figure1.collect, figure1_.section),
    "figure2": (figure2.collect, figure2_.section),
    "nine-rectangles": (nine_rectangles.collect, nine_rectangles_.section),
    "table1": (table1.collect, table1_.section),
    "table2": (table2.collect, table2_.section),
    "significance": (lambda _: True, lambda _: significance.section()),
    "table3": (table3.collect, table3_.section),
    "table4": (table4.collect, table4_.section),
}
NAMES = tuple(_EXPERIMENTS)


def versions(folder: Path) -> dict[str, str]:
    """What the results were made with; several versions with commas between them."""
    found: dict[str, dict[str, None]] = {}
    for name in NAMES:
        for path in sorted((folder / name).rglob("[!.]*.json")):
            for what, version in results.read(path).get("versions", {}).items():
                found.setdefault(what, {})[version] = None
    return {what: ", ".join(each) for what, each in found.items()}


def section(name: str, folder: Path) -> Section | None:
    """What is to be said of an experiment; None where it was not run."""
    collect, make = _EXPERIMENTS[name]
    found = collect(folder / name)
    return None if found is None else make(found)

"""The page of the reproduction: one self-contained HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn.experiments.section import find_numeric_columns, format_cells, headline
from chmcnn.report.page import inline, render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chmcnn.experiments.section import Section


def page(sections: Mapping[str, Section | None], *, versions: Mapping[str, str]) -> str:
    """Return the page: all checks, each section, the experiments without results, and the versions used.

    Parameters
    ----------
    sections
        The section of each experiment by name; None if it has no results.
    versions
        What the results were made with, for the foot of the page.

    Examples
    --------
    >>> html = page({"table2": None}, versions={"torch": "2.7"})
    >>> "1 experiment has not been run" in html
    True
    """
    available = [section for section in sections.values() if section]
    return render(
        "paper.html",
        package="chmcnn.experiments",
        sections=available,
        missing=[(name, f"chmcnn reproduce {name}") for name, section in sections.items() if section is None],
        facts=versions,
        checks=[(section, check) for section in available for check in section.checks],
        headline=headline(list(sections.values())),
        inline=inline,
        numeric=find_numeric_columns,
        texts=format_cells,
    )

"""The page that a reader checks the paper with: one HTML file that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn.report.page import inline, render
from chmcnn.report.paper.section import counted, numeric, texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chmcnn.report.paper.section import Section


def page(sections: Sequence[Section], missing: Sequence[tuple[str, str]], *, facts: Mapping[str, str]) -> str:
    """The page: all checks, then each section, what was not run, and what it was made with.

    Parameters
    ----------
    sections
        What the experiments gave.
    missing
        Name and command of each experiment without results.
    facts
        What the results were made with, such as versions, for the foot.

    Examples
    --------
    >>> shown = page([], [("table2", "chmcnn reproduce table2")], facts={"torch": "2.7"})
    >>> "1 experiment has not been run" in shown
    True
    """
    checks = [(section, check) for section in sections for check in section.checks]
    return render(
        "paper.html",
        sections=sections,
        missing=missing,
        facts=facts,
        checks=checks,
        counted=counted([check for _, check in checks]),
        inline=inline,
        numeric=numeric,
        texts=texts,
    )

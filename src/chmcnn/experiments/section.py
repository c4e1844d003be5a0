"""A section of the page: one table or figure of the paper, with our results beside the published ones."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

Value = str | float | int | None
"""A cell of a table; None is unknown."""


@dataclass(frozen=True, slots=True)
class Check:
    """A comparison of one of our results with a published one, or with a goal."""

    claim: str  # what is compared, and the tolerance
    published: str  # or the goal
    ours: str
    agrees: bool
    why: str = ""  # why it does not agree, or a remark
    goal: bool = False  # a goal of this project, not a result of the paper


@dataclass(frozen=True, slots=True)
class SectionTable:
    """A table; floats are shown with ``digits`` decimals, integers with none."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    digits: int = 3
    note: str = ""
    summed: bool = False  # whether the last row sums up the others, and stays last


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture; its name is that of its file, without the ending."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Section:
    """The section of one experiment."""

    name: str  # as in `chmcnn reproduce NAME`
    title: str
    text: str  # describes the experiment in a few sentences
    command: str  # repeats it; several commands are joined by "; "
    checks: tuple[Check, ...] = field(default=())
    tables: tuple[SectionTable, ...] = field(default=())
    pictures: tuple[Picture, ...] = field(default=())

    @property
    def commands(self) -> list[str]:
        """The commands, one by one.

        >>> Section("table2", "Table 2", "Ours.", "chmcnn reproduce table2 --seeds 1; chmcnn reproduce table2").commands
        ['chmcnn reproduce table2 --seeds 1', 'chmcnn reproduce table2']
        """
        return self.command.split("; ")


def deviation(runs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of runs along the last axis; NaN for a single run.

    >>> deviation(np.array([[0.9, 0.8, 0.7]])).round(3), deviation(np.array([0.9]))
    (array([0.1]), array(nan))
    """
    if runs.shape[-1] == 1:
        return np.full(runs.shape[:-1], np.nan)
    return np.asarray(runs.std(axis=-1, ddof=1))


def count_agreements(checks: Sequence[Check]) -> str:
    """Say how many results agree with the paper, and how many goals are reached.

    >>> checks = [Check("mean", "0.974", "0.969", agrees=True), Check("time", "1 s", "2 s", agrees=False, goal=True)]
    >>> count_agreements(checks)
    '1 of 1 comparisons agrees with the paper, 0 of 1 goals is reached'
    """
    sentences = []
    for is_goal, noun, verbs in (
        (False, "comparisons", ("agrees", "agree")),
        (True, "goals", ("is", "are")),
    ):
        agreements = [check.agrees for check in checks if check.goal == is_goal]
        verb = verbs[len(agreements) > 1]
        ending = " reached" if is_goal else " with the paper"
        if agreements:
            sentences.append(f"{sum(agreements)} of {len(agreements)} {noun} {verb}{ending}")
    return ", ".join(sentences)


def headline(sections: Sequence[Section | None]) -> str:
    """Say how many experiments have results, and how many of these agree with the paper; None has no results.

    >>> section = Section("table2", "Table 2", "", "", (Check("mean", "0.974", "0.969", agrees=True),))
    >>> headline([section, None])
    '1 of 2 experiments has results, 1 has not been run. Of the results, 1 of 1 comparisons agrees with the paper.'
    >>> headline([None, None])
    '0 of 2 experiments have results, 2 have not been run.'
    """
    available = [section for section in sections if section]
    missing = len(sections) - len(available)
    text = f"{len(available)} of {len(sections)} experiments {'has' if len(available) == 1 else 'have'} results"
    if missing:
        text += f", {missing} {'has' if missing == 1 else 'have'} not been run"
    agreements = count_agreements([check for section in available for check in section.checks])
    if not agreements:
        return f"{text}."
    return f"{text}. Of the results, {agreements}." if missing else f"{text}: {agreements}."


def new_figure(width: float, height: float) -> Figure:
    """Create a figure; matplotlib is imported only when one is drawn."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def format_cell(value: Value, digits: int) -> str:
    """Format a cell.

    >>> format_cell(1234, 3), format_cell(0.25, 3), format_cell(None, 3), format_cell("12 of 20", 3)
    ('1,234', '0.250', '-', '12 of 20')
    """
    if value is None or value != value:  # noqa: PLR0124 -- NaN is what differs from itself
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:,.{digits}f}" if isinstance(value, float) else f"{value:,}"


def format_cells(table: SectionTable) -> list[list[str]]:
    """Format all cells of a table."""
    return [[format_cell(value, table.digits) for value in row] for row in table.rows]


def find_numeric_columns(table: SectionTable) -> list[bool]:
    """Return which columns are aligned right: those of numbers, also with text after them, but not the first.

    >>> row = (0, "0.97 (0.01)", "unknown", "f+")
    >>> find_numeric_columns(SectionTable("", ("seed", "mean", "classes", "best"), (row,)))
    [False, True, True, False]
    """
    columns = zip(*format_cells(table), strict=True) if table.rows else [()] * len(table.columns)
    number = re.compile(r"-$|unknown|[-+]?\d")
    return [place > 0 and all(map(number.match, column)) for place, column in enumerate(columns)]


def facts(section: Section) -> dict[str, Any]:
    """Return a section as plain values; of its pictures only the names.

    >>> facts(Section("table2", "Table 2", "Ours.", "chmcnn reproduce table2"))["command"]
    'chmcnn reproduce table2'
    """
    return {**asdict(replace(section, pictures=())), "pictures": [picture.name for picture in section.pictures]}

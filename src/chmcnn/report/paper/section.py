"""What is said of one table or figure of the paper: ours beside the published figures, and how to get it again."""

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
"""A cell of a table; None is not known."""


@dataclass(frozen=True, slots=True)
class Check:
    """A figure that can be compared with a published one, or with a goal."""

    claim: str  # what is compared, and how near is near enough
    published: str  # or the goal
    ours: str
    agrees: bool
    why: str = ""  # why it does not, or what to know of it
    goal: bool = False  # a goal of this project, not a figure of the paper


@dataclass(frozen=True, slots=True)
class Table:
    """A table; numbers are shown with so many digits after the point, whole numbers without any."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    digits: int = 3
    note: str = ""
    summed: bool = False  # whether the last row is of all others, and stays last


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture; its name is that of its file, without the ending."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Section:
    """All that is said of one experiment."""

    name: str  # as in `chmcnn reproduce NAME`
    title: str
    text: str  # what the experiment is, in a few sentences
    command: str  # which runs it again; where results are of several, they are joined by "; "
    checks: tuple[Check, ...] = field(default=())
    tables: tuple[Table, ...] = field(default=())
    pictures: tuple[Picture, ...] = field(default=())

    @property
    def commands(self) -> list[str]:
        """One by one.

        >>> Section("table2", "Table 2", "Ours.", "chmcnn reproduce table2 --seeds 1; chmcnn reproduce table2").commands
        ['chmcnn reproduce table2 --seeds 1', 'chmcnn reproduce table2']
        """
        return self.command.split("; ")


def deviation(runs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Estimate the standard deviation from runs along the last axis; NaN of a single run.

    >>> deviation(np.array([[0.9, 0.8, 0.7]])).round(3), deviation(np.array([0.9]))
    (array([0.1]), array(nan))
    """
    if runs.shape[-1] == 1:
        return np.full(runs.shape[:-1], np.nan)
    return np.asarray(runs.std(axis=-1, ddof=1))


def counted(checks: Sequence[Check]) -> str:
    """How many figures agree, and how many goals are reached.

    >>> counted([Check("mean", "0.974", "0.969", agrees=True), Check("time", "1 s", "2 s", agrees=False, goal=True)])
    '1 of 1 figures agree with the paper, 0 of 1 goals are reached'
    """
    told = {False: "figures agree with the paper", True: "goals are reached"}
    kinds = {goal: [check.agrees for check in checks if check.goal == goal] for goal in told}
    return ", ".join(f"{sum(agree)} of {len(agree)} {told[goal]}" for goal, agree in kinds.items() if agree)


def text(value: Value, digits: int) -> str:
    """A cell as people read it.

    >>> text(1234, 3), text(0.25, 3), text(None, 3), text(float("nan"), 3), text("12 of 20", 3)
    ('1,234', '0.250', '-', '-', '12 of 20')
    """
    if value is None or value != value:  # noqa: PLR0124 -- NaN is what differs from itself
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:,.{digits}f}" if isinstance(value, float) else f"{value:,}"


def texts(table: Table) -> list[list[str]]:
    """All cells of a table as people read them."""
    return [[text(value, table.digits) for value in row] for row in table.rows]


def numeric(table: Table) -> list[bool]:
    """Which columns stand to the right: those of numbers, also with something after them, but not the first.

    >>> numeric(Table("", ("seed", "mean", "classes", "best"), ((0, "0.97 (0.01)", "not known", "f+"),)))
    [False, True, True, False]
    """
    columns = zip(*texts(table), strict=True) if table.rows else [()] * len(table.columns)
    number = re.compile(r"-$|not known|[-+]?\d")
    return [place > 0 and all(map(number.match, column)) for place, column in enumerate(columns)]


def facts(section: Section) -> dict[str, Any]:
    """A section as plain values, for machines; of its pictures only the names.

    >>> facts(Section("table2", "Table 2", "Ours.", "chmcnn reproduce table2"))["command"]
    'chmcnn reproduce table2'
    """
    return {**asdict(replace(section, pictures=())), "pictures": [picture.name for picture in section.pictures]}

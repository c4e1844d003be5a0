"""What is said of one table or figure of the paper: ours beside the published figures, and how to get it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Value = str | float | int | None
"""A cell of a table; None is not known."""


@dataclass(frozen=True, slots=True)
class Check:
    """A figure that can be compared with a published one."""

    claim: str  # what is compared, and how near is near enough
    published: str
    ours: str
    agrees: bool
    why: str = ""  # why it does not, or what to know of it


@dataclass(frozen=True, slots=True)
class Table:
    """A table; numbers are shown with so many digits after the point, whole numbers without any."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    digits: int = 3
    note: str = ""


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
    command: str  # which runs it again
    checks: tuple[Check, ...] = field(default=())
    tables: tuple[Table, ...] = field(default=())
    pictures: tuple[Picture, ...] = field(default=())

"""Print a section in the terminal."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from chmcnn.experiments.section import find_numeric_columns, format_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chmcnn.experiments.section import Check, Section, SectionTable

_INDENT = " " * len("yes: ")
_WORDS = 24
"""A column of words is wrapped at this width if the table does not fit."""


def show(section: Section, console: Console | None = None) -> None:
    """Print a section: its title, its tables, what agrees with the paper, and the command that repeats it.

    >>> from chmcnn.experiments.section import Check, Section
    >>> checks = (Check("mean accuracy, within 0.01", "0.974", "0.969", agrees=True),)
    >>> show(Section("nine-rectangles", "Nine rectangles", "Ten runs.", "chmcnn reproduce nine-rectangles", checks))
    Nine rectangles
    <BLANKLINE>
    Ten runs.
    <BLANKLINE>
    yes: mean accuracy, within 0.01
         published: 0.974; ours: 0.969
    <BLANKLINE>
    Made by: chmcnn reproduce nine-rectangles
    """
    console = console or Console()
    console.print(Text(section.title, "bold"))
    console.print()
    console.print(Text(section.text))
    for table in section.tables:
        console.print()
        _show_table(table, console)
    for check in section.checks:
        console.print()
        console.print(_lines(check, console.width))
    console.print()
    console.print("Made by:", section.command, markup=False, highlight=False, soft_wrap=True)


def _lines(check: Check, room: int) -> Text:
    """Say whether a check agrees, what was compared, and why it does not agree."""
    against = "a goal of this project" if check.goal else "published"
    lines = [check.claim, f"{against}: {check.published}; ours: {check.ours}", check.why]
    wrapped = "\n".join(fill(line, room, initial_indent=_INDENT, subsequent_indent=_INDENT) for line in lines if line)
    mark = Text("yes:", "bold green") if check.agrees else Text("no: ", "bold red")
    return mark.append(wrapped[len(mark) :], "none")


def _show_table(table: SectionTable, console: Console) -> None:
    console.print(Text(table.title, "italic"))
    if not table.rows:
        console.print("No rows.")
    rows, right = format_cells(table), find_numeric_columns(table)
    widths = _widths(table, rows, room=console.width)
    for places in _blocks(widths, console.width) if rows else ():
        block = Table(
            *(
                Column(
                    Text(table.columns[place]),
                    justify="right" if right[place] else "left",
                    width=widths[place],
                    overflow="fold",
                )
                for place in places
            )
        )
        for row in rows:
            block.add_row(*(Text(row[place]) for place in places))
        console.print(block)
    if table.note:
        console.print(Text(table.note))


def _widths(table: SectionTable, rows: list[list[str]], room: int) -> list[int]:
    """Return the width of each column; only words are wrapped, and only if the table does not fit."""
    cells = [[head, *column] for head, *column in zip(table.columns, *rows, strict=True)]
    widths = [max(map(len, column)) for column in cells]
    if _total(widths) <= room:
        return widths
    right = find_numeric_columns(table)
    return [
        max(map(len, [*column[1:], *column[0].split()])) if right[place] else min(widths[place], _WORDS)
        for place, column in enumerate(cells)
    ]


def _blocks(widths: list[int], room: int) -> Iterator[list[int]]:
    """Yield groups of columns that fit beside each other; the first column is in each of them."""
    block = [0]
    for place in range(1, len(widths)):
        if len(block) > 1 and _total([widths[other] for other in [*block, place]]) > room:
            yield block
            block = [0]
        block.append(place)
    yield block


def _total(widths: list[int]) -> int:
    """Return the width of a table with its lines."""
    return sum(widths) + 3 * len(widths) + 1

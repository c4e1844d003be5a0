"""Training on Parquet files that need not fit into memory: ``chmcnn train --stream``."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli._data import HoldOutOptions, Parts
from chmcnn.cli._groups import OptionGroup, flag
from chmcnn.cli._table import TableOptions
from chmcnn.errors import ChmcnnError, DatasetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chmcnn.datasets import RowGroups

_PANEL = "Data beyond memory"
_APPLY = (
    "hierarchy",
    "labels",
    "class_column",
    "separator",
    "path_separator",
    "id_column",
    "categorical",
    "text",
)
"""Options of a table that apply to streamed files as well."""


@dataclass(frozen=True)
class StreamOptions(OptionGroup):
    """Whether rows are read from files in every epoch, and how many are in memory at once."""

    stream: Annotated[
        bool,
        typer.Option(
            "--stream", help="Read Parquet files in every epoch, some rows at a time.", rich_help_panel=_PANEL
        ),
    ] = False
    window: Annotated[
        int | None,
        typer.Option(min=1, help="Rows in memory, shuffled at once. Default: 10,000.", rich_help_panel=_PANEL),
    ] = None

    def check(self, data: Sequence[str]) -> None:
        """Refuse several tables, or a window, without ``--stream``."""
        if not self.stream and len(data) > 1:
            raise DatasetError(
                f"There are {len(data)} tables; name the folder of several Parquet files, or use --stream."
            )
        if not self.stream and self.window is not None:
            raise DatasetError("--window is only for --stream: a table is read as a whole.")

    def open(self, data: Sequence[str], table: TableOptions) -> RowGroups:
        """Open the files; raise an error for options that do not apply to them."""
        from chmcnn.datasets import RowGroups
        from chmcnn.datasets.row_groups import WINDOW

        for field in fields(table):
            if field.name not in _APPLY and getattr(table, field.name) != field.default:
                raise DatasetError(f"{flag(field.name)} cannot be used with --stream: it is for tables in memory.")
        if table.hierarchy is None:
            raise ChmcnnError("--stream needs --hierarchy: the classes must be known before the rows are read.")
        return RowGroups(
            data,
            table.read_hierarchy(table.hierarchy),
            labels=table.class_column or table.labels,
            separator=table.separator,
            path_separator=table.path_separator,
            id_column=table.id_column or None,
            categorical=table.categorical or (),
            text=table.text or (),
            window=self.window or WINDOW,
        )


def describe(rows: RowGroups, hold_out: HoldOutOptions, table: TableOptions) -> Parts:
    """Return the first rows, for the report, and the table to test on, if there is one."""
    from chmcnn.datasets import Dataset

    if hold_out.test_share:
        raise DatasetError("--test-share cannot be used with --stream; name a table to test on with --test.")
    title = rows.files[0].name + (f" and {len(rows.files) - 1:,} more" if len(rows.files) > 1 else "")
    _, first = next(rows.read(rows.groups[0]))
    tables = {"train": first}
    if hold_out.test is not None:
        named = replace(table, categorical=[*rows.named.categorical], text=[*rows.named.text])
        test = tables["test"] = named.read(hold_out.test, rows.hierarchy, features=rows.features)
        Dataset(title, first, test, test)  # refuses other columns before the training
    test_title = "" if hold_out.test is None else hold_out.test.name
    return Parts(title, tables, streamed_rows=len(rows), test_title=test_title)

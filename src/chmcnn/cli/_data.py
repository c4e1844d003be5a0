"""The data of a command: a data set by name, or a table of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli._groups import OptionGroup, flag
from chmcnn.cli._options import Invocation
from chmcnn.cli._table import TableOptions
from chmcnn.errors import DatasetError, FileError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chmcnn.datasets import Dataset, Table


@dataclass(frozen=True)
class HoldOutOptions(OptionGroup):
    """Which rows to test on."""

    test: Annotated[Path | None, typer.Option(help="Table to test on, instead of a share of the rows.")] = None
    test_share: Annotated[
        float | None, typer.Option(min=0, max=0.9, help="Share of the rows to hold out for the test. Default: 0.2.")
    ] = None

    def split(
        self, path: Path, table_options: TableOptions, seed: int, notify: Callable[[str], None] | None = None
    ) -> Parts:
        """Read a table of the user, and hold out rows for the test unless another table has them."""
        from chmcnn.datasets import Dataset, split
        from chmcnn.datasets.columns import list_kinds

        if self.test is not None and self.test_share is not None:
            raise DatasetError("--test and --test-share cannot be used together; use one of them.")
        if self.test is not None and table_options.label_file is not None:
            raise DatasetError("--label-file has the labels of one table: use --test-share instead of --test.")
        table = table_options.read(path, notify=notify)
        if self.test is not None:
            kinds = list_kinds(table.X) if hasattr(table.X, "columns") else {}
            known = replace(table_options.name_kinds(kinds), min_rows=1)
            test = known.read(self.test, table.hierarchy, notify=notify, features=len(table.feature_names))
            Dataset(path.name, table, test, test)  # refuses other columns before the training
            _notify_known_rows(table, test, self.test, notify)
            return Parts(path.name, {"train": table, "test": test}, test_title=self.test.name)
        share = 0.2 if self.test_share is None else self.test_share
        if share == 0:
            return Parts(path.name, {"train": table})
        try:
            train, test = split(table, 1 - share, share, seed=seed)
        except DatasetError as error:  # too few rows
            raise FileError(f"{error} Use --test-share 0, or --test with another table", path) from None
        return Parts(path.name, {"train": train, "test": test})


@dataclass(frozen=True)
class Parts:
    """The tables of a data set, or those from a table of the user, which have no validation rows."""

    title: str
    tables: Mapping[str, Table]
    evaluated: NDArray[np.bool_] | None = None  # None: all classes count
    streamed_rows: int = 0  # rows in files, of which `train` has only the first
    test_title: str = ""  # of test rows that are a table of their own

    @classmethod
    def of(cls, data: Dataset) -> Parts:
        """Return the parts of a data set."""
        return cls(data.title, data.parts, data.evaluated)

    @property
    def train(self) -> Table:
        """The rows to train on, or all rows."""
        return next(iter(self.tables.values()))

    @property
    def valid(self) -> Table | None:
        """The rows to validate on."""
        return self.tables.get("valid")

    @property
    def test(self) -> Table | None:
        """The rows to test on."""
        return self.tables.get("test")


def _notify_known_rows(train: Table, test: Table, path: Path, notify: Callable[[str], None] | None) -> None:
    """Say how many test rows are training rows, by their ids."""
    if notify is None or getattr(getattr(test.X, "index", None), "name", None) is None:
        return
    known = int(test.X.index.isin(train.X.index).sum())
    if known:
        notify(f"{known:,} of {len(test):,} rows of {path} have the id of a training row: the measures are too good.")


def is_file(name: str) -> bool:
    """Whether a name is that of a file or a folder, and not that of a data set."""
    if Path(name).suffix or Path(name).is_file():
        return True
    return Path(name).is_dir() and (name.endswith("/") or not _is_dataset(name))


def _is_dataset(name: str) -> bool:
    from chmcnn.datasets import names

    return name in names()


def refuse_option(name: str, option: str) -> None:
    """Raise an error for an option that does not apply to a data set by name."""
    raise DatasetError(f"{name} is not a file; {flag(option)} is only for a table of your own.")


def refuse_table_options(name: str, *groups: OptionGroup) -> None:
    """Raise an error for the first option of the groups that the user set."""
    for group in groups:
        for field in fields(group):
            if getattr(group, field.name) != field.default:
                refuse_option(name, field.name)


def load(
    name: str, call: Invocation, *refused: OptionGroup, files: Mapping[str, Path] | None = None, seed: int = 0
) -> Dataset:
    """Load a data set by name; raise an error for options that apply only to tables of the user."""
    from chmcnn.datasets import load

    refuse_table_options(name, *refused)
    return load(name, data_dir=call.data_dir, named=files, seed=seed, quiet=call.quiet)


def notify_text(table: Table, table_options: TableOptions, call: Invocation) -> None:
    """Say which columns were found to have text."""
    from chmcnn.datasets.columns import list_kinds

    kinds = list_kinds(table.X) if hasattr(table.X, "columns") else {}
    found = [name for name, kind in kinds.items() if kind == "text" and name not in (table_options.text or ())]
    if found:
        names, verb = ", ".join(map(repr, found)), "has" if len(found) == 1 else "have"
        call.notify(f"{names} {verb} running text, which becomes TF-IDF; use --categorical if it has categories.")

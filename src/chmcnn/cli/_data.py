"""The data of a command: a data set by name, or a table of the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli._groups import Omit, OptionGroup, flag
from chmcnn.cli._options import Invocation
from chmcnn.errors import ChmcnnError, DatasetError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chmcnn import Hierarchy
    from chmcnn._typing import Features
    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.datasets import Dataset, Table

_TABLE = "Your own table"


@dataclass(frozen=True)
class TableOptions(OptionGroup):
    """How to read a table of the user: the arguments of `chmcnn.datasets.read_table`."""

    hierarchy: Annotated[
        Path | None,
        typer.Option(help="File of the hierarchy: edges (CSV), OBO, JSON or ARFF.", rich_help_panel=_TABLE),
    ] = None
    labels: Annotated[str, typer.Option(help="Column of labels.", rich_help_panel=_TABLE)] = "labels"
    class_column: Annotated[
        list[str] | None,
        typer.Option(help="Column of 0 and 1 for one class (repeatable).", rich_help_panel=_TABLE),
    ] = None
    separator: Annotated[str, typer.Option(help="Separator between labels.", rich_help_panel=_TABLE)] = ";"
    path_separator: Annotated[
        str, typer.Option(help="Separator between the parts of a label that is a path.", rich_help_panel=_TABLE)
    ] = "/"
    id_column: Annotated[
        str | None, typer.Option(help="Column with the names of the rows.", rich_help_panel=_TABLE)
    ] = None
    categorical: Annotated[
        list[str] | None, typer.Option(help="Column of categories (repeatable).", rich_help_panel=_TABLE)
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(help="Separator between cells. Default: comma in .csv, else tab.", rich_help_panel=_TABLE),
    ] = None

    def read(self, path: Path, hierarchy: Hierarchy | None = None) -> Table:
        """Read features and labels."""
        from chmcnn.datasets import read_table

        return read_table(
            path,
            hierarchy or self.hierarchy,
            labels=self.class_column or self.labels,
            separator=self.separator,
            path_separator=self.path_separator,
            id_column=self.id_column,
            categorical=self.categorical or (),
            delimiter=self.delimiter,
        )


FeatureTable = Annotated[
    TableOptions, Omit("hierarchy", "labels", "class_column", "separator", "path_separator", "categorical")
]
"""How to read a table without labels; the model has the classes and categories."""


@dataclass(frozen=True)
class HoldOutOptions(OptionGroup):
    """Which rows to test on."""

    test: Annotated[Path | None, typer.Option(help="Table to test on, instead of a share of the rows.")] = None
    test_share: Annotated[
        float | None, typer.Option(min=0, max=0.9, help="Share of the rows to hold out for the test. Default: 0.2.")
    ] = None

    def split(self, path: Path, table_options: TableOptions, seed: int) -> Parts:
        """Read a table of the user, and hold out rows for the test unless another table has them."""
        from chmcnn.datasets import Dataset, split

        if self.test is not None and self.test_share is not None:
            raise DatasetError("--test and --test-share cannot be used together; use one of them.")
        table = table_options.read(path)
        if self.test is not None:
            test = table_options.read(self.test, table.hierarchy)
            Dataset(path.name, table, test, test)  # refuses other columns before the training
            return Parts(path.name, {"train": table, "test": test})
        share = 0.2 if self.test_share is None else self.test_share
        if share == 0:
            return Parts(path.name, {"train": table})
        train, test = split(table, 1 - share, share, seed=seed)
        return Parts(path.name, {"train": train, "test": test})


@dataclass(frozen=True)
class Parts:
    """The tables of a data set, or those from a table of the user, which have no validation rows."""

    title: str
    tables: Mapping[str, Table]
    evaluated: NDArray[np.bool_] | None = None  # None: all classes count

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


def is_file(name: str) -> bool:
    """Whether a name is a file name, and not that of a data set."""
    return bool(Path(name).suffix) or Path(name).is_file()


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


def load_model(path: Path, device: str, threshold: str | None = None) -> CHMCNNClassifier:
    """Load a model, with another threshold if one is given."""
    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.settings import THRESHOLD_TEXT, read_threshold

    if threshold is not None and not THRESHOLD_TEXT.allows(threshold):
        raise ChmcnnError(f"--threshold is {threshold!r}; expected {THRESHOLD_TEXT.expected}.")
    model = CHMCNNClassifier.load(path, device=device)
    if threshold is None:
        return model
    value = read_threshold(threshold)
    if isinstance(value, str) and value not in model.tuned_thresholds_:
        raise ChmcnnError(
            f"--threshold is {value!r}, but {path} was trained without validation rows to tune it on; use a number "
            "from 0 to 1, or train with validation rows."
        )
    model.set_params(threshold=value)
    return model


def read_features(model: CHMCNNClassifier, name: str, table_options: TableOptions, call: Invocation) -> Features:
    """Return features to predict: the test part of a data set, or the columns of a table that the model needs."""
    from chmcnn.datasets import read_features

    if not is_file(name):
        return load(name, call, table_options).test.X
    return read_features(
        Path(name),
        id_column=table_options.id_column,
        categorical=_categorical(model, table_options),
        delimiter=table_options.delimiter,
        columns=list(getattr(model, "feature_names_in_", ())) or None,
    )


def read_labelled(
    model: CHMCNNClassifier, name: str, table_options: TableOptions, call: Invocation
) -> tuple[Features, NDArray[np.bool_]]:
    """Return features and labels to evaluate on."""
    if not is_file(name):
        data = load(name, call, table_options)
        if data.hierarchy != model.hierarchy_:
            raise DatasetError(f"{name} has different classes than the model.")
        return data.test.X, data.test.Y
    options = replace(table_options, categorical=_categorical(model, table_options))
    table = options.read(Path(name), model.hierarchy_)
    columns = list(getattr(model, "feature_names_in_", table.X.columns))
    missing = [column for column in columns if column not in table.X.columns]
    if missing:
        raise DatasetError(f"{name} has no column {missing[0]!r}, but the model was trained on it.")
    return table.X[columns], table.Y


def _categorical(model: CHMCNNClassifier, table_options: TableOptions) -> list[str]:
    """Return the columns of categories: those of the model, and those that the user names."""
    columns = zip(getattr(model, "feature_names_in_", ()), model.preprocessor_.categories_, strict=False)
    names = (str(name) for name, categories in columns if categories is not None)
    return [*names, *(table_options.categorical or ())]

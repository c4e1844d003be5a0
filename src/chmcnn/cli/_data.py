"""The data of a command: a data set by name, or a table of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn.cli._annotations import AnnotationOptions, option_names
from chmcnn.cli._groups import Omit, OptionGroup, flag
from chmcnn.cli._options import Invocation, LoadingOptions
from chmcnn.errors import ChmcnnError, DatasetError, TableError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from chmcnn import Hierarchy
    from chmcnn._typing import Features
    from chmcnn.datasets import Dataset, Table
    from chmcnn.estimator import HierarchicalClassifier

_TABLE = "Your own table"


@dataclass(frozen=True)
class TableOptions(AnnotationOptions):
    """How to read a table of the user: the arguments of `chmcnn.datasets.read_table` and `annotate`."""

    hierarchy: Annotated[
        Path | None,
        typer.Option(help="File of the hierarchy: edges (CSV), OBO, SKOS, JSON or ARFF.", rich_help_panel=_TABLE),
    ] = None
    labels: Annotated[str, typer.Option(help="Column of labels.", rich_help_panel=_TABLE)] = "labels"
    label_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the labels of the rows: a table, or a sparse 0/1 matrix (.npz).", rich_help_panel=_TABLE
        ),
    ] = None
    class_column: Annotated[
        list[str] | None,
        typer.Option(help="Column of 0 and 1 for one class (repeatable).", rich_help_panel=_TABLE),
    ] = None
    separator: Annotated[str, typer.Option(help="Separator between labels.", rich_help_panel=_TABLE)] = ";"
    path_separator: Annotated[
        str, typer.Option(help="Separator between the parts of a label that is a path.", rich_help_panel=_TABLE)
    ] = "/"
    id_column: Annotated[
        str | None,
        typer.Option(
            help="Column with the names of the rows. A model remembers it; '' for no names.", rich_help_panel=_TABLE
        ),
    ] = None
    categorical: Annotated[
        list[str] | None, typer.Option(help="Column of categories (repeatable).", rich_help_panel=_TABLE)
    ] = None
    text: Annotated[
        list[str] | None,
        typer.Option(help="Column of text (repeatable); running text is found by itself.", rich_help_panel=_TABLE),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(help="Separator between cells. Default: comma in .csv, else tab.", rich_help_panel=_TABLE),
    ] = None

    def read(
        self,
        path: Path,
        hierarchy: Hierarchy | None = None,
        columns: Sequence[str] | None = None,
        notify: Callable[[str], None] | None = None,
        features: int | None = None,
    ) -> Table:
        """Read features and labels; the features of some columns, or of all; sparse ones have a number."""
        from chmcnn.datasets import read_table

        self.refuse_without_annotations()
        if self.annotations is not None:
            return self.annotate(self._read_genes(path, columns), self.hierarchy, hierarchy, notify)
        if hierarchy is None and self.hierarchy is not None:
            hierarchy = self.read_hierarchy(self.hierarchy)
        return read_table(
            path,
            hierarchy,
            labels=self.class_column or self.labels,
            separator=self.separator,
            path_separator=self.path_separator,
            id_column=self.id_column or None,
            categorical=self.categorical or (),
            text=self.text or (),
            delimiter=self.delimiter,
            columns=columns,
            features=features,
            label_file=self.label_file,
        )

    def name_kinds(self, kinds: Mapping[str, str]) -> TableOptions:
        """Return the options with the kinds of columns that are known already."""
        named = {kind: [name for name, found in kinds.items() if found == kind] for kind in ("categories", "text")}
        text = [*named["text"], *(self.text or ())]
        categorical = [*named["categories"], *(self.categorical or ())]
        return replace(self, text=text, categorical=[name for name in categorical if name not in text])

    def _read_genes(self, path: Path, columns: Sequence[str] | None) -> pd.DataFrame:
        """Read the features of genes, whose labels are in another file."""
        from chmcnn.datasets import read_features

        if self.class_column or self.labels != "labels":
            raise DatasetError("--annotations has the labels: --labels and --class-column do not apply.")
        if self.label_file:
            raise DatasetError("--annotations has the labels: --label-file does not apply.")
        genes: pd.DataFrame = read_features(
            path,
            id_column=0 if self.id_column is None else self.id_column,
            categorical=self.categorical or (),
            text=self.text or (),
            delimiter=self.delimiter,
            columns=columns,
        )
        if self.labels in genes.columns:
            raise DatasetError(
                f"{path} has a column {self.labels!r}, but --annotations has the labels; remove one of them."
            )
        return genes


FeatureTable = Annotated[
    TableOptions,
    Omit(
        "hierarchy",
        "labels",
        "label_file",
        "class_column",
        "separator",
        "path_separator",
        "categorical",
        "text",
        *option_names(),
    ),
]
"""How to read a table without labels; the model has the classes and categories."""


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
    streamed_rows: int = 0  # rows in files, of which `train` has only the first

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


def load_model(path: Path, loading: LoadingOptions, threshold: str | None = None) -> HierarchicalClassifier:
    """Load a model, with another threshold if one is given."""
    from chmcnn import ensemble
    from chmcnn.settings import THRESHOLD_TEXT, read_threshold

    if threshold is not None and not THRESHOLD_TEXT.allows(threshold):
        raise ChmcnnError(f"--threshold is {threshold!r}; expected {THRESHOLD_TEXT.expected}.")
    model = ensemble.load_model(path, device=loading.device, verify_key=loading.verify_key)
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


def notify_text(table: Table, table_options: TableOptions, call: Invocation) -> None:
    """Say which columns were found to have text."""
    from chmcnn.datasets.columns import list_kinds

    kinds = list_kinds(table.X) if hasattr(table.X, "columns") else {}
    found = [name for name, kind in kinds.items() if kind == "text" and name not in (table_options.text or ())]
    if found:
        names, verb = ", ".join(map(repr, found)), "has" if len(found) == 1 else "have"
        call.notify(f"{names} {verb} running text, which becomes TF-IDF; use --categorical if it has categories.")


def read_features(model: HierarchicalClassifier, name: str, table_options: TableOptions, call: Invocation) -> Features:
    """Return features to predict: the test part of a data set, or the columns of a table that the model needs."""
    from chmcnn.datasets import read_features

    if not is_file(name):
        return load(name, call, table_options).test.X
    read = partial(read_features, Path(name), delimiter=table_options.delimiter)
    return fit_features(model, table_options, read, name)


def fit_features(
    model: HierarchicalClassifier, table_options: TableOptions, read: Callable[..., Features], name: str
) -> Features:
    """Return the columns that a model needs, as a reader of features returns them."""
    known = _known_kinds(model, table_options)
    remembered = model.id_column_ if table_options.id_column is None else None
    try:
        return read(
            id_column=remembered or table_options.id_column or None,
            categorical=known.categorical or (),
            text=known.text or (),
            columns=_list_columns(model),
            features=model.n_features_in_,
        )
    except TableError as error:
        if not _lacks(error, remembered):
            raise
        raise DatasetError(
            f"{name} has no column {remembered!r}, which had the names of the rows in training; name another with "
            "--id-column, or use --id-column '' to number the rows."
        ) from None


def list_needed_columns(model: HierarchicalClassifier, table_options: TableOptions) -> list[str] | None:
    """Return the columns of features and names of rows that a model needs; None if they have no names."""
    columns = _list_columns(model)
    names = table_options.id_column or model.id_column_
    return None if columns is None else [*columns, *([names] if names else [])]


def read_labelled(
    model: HierarchicalClassifier, name: str, table_options: TableOptions, call: Invocation
) -> tuple[Features, csr_array]:
    """Return features and labels to evaluate on."""
    if not is_file(name):
        data = load(name, call, table_options)
        if data.hierarchy != model.hierarchy_:
            raise DatasetError(f"{name} has different classes than the model.")
        return data.test.X, data.test.Y
    if table_options.hierarchy is not None and table_options.annotations is None:
        raise DatasetError("--hierarchy is only for --annotations: the model has its own hierarchy.")
    options = replace(_known_kinds(model, table_options), path_separator=model.path_separator)
    remembered = model.id_column_ if options.id_column is None else None
    read = partial(
        TableOptions.read,
        path=Path(name),
        hierarchy=model.hierarchy_,
        columns=_list_columns(model),
        notify=call.notify,
        features=model.n_features_in_,
    )
    try:
        table = read(replace(options, id_column=remembered or options.id_column))
    except TableError as error:
        if not _lacks(error, remembered):
            raise
        table = read(options)  # measures need no names
    return table.X, table.Y


def _lacks(error: TableError, column: str | None) -> bool:
    """Return whether an error says that a table has no such column."""
    return column is not None and error.problem.startswith(f"there is no column {column!r}")


def _known_kinds(model: HierarchicalClassifier, table_options: TableOptions) -> TableOptions:
    """Return the options with the kinds of columns that the model was trained on."""
    preprocessor = getattr(model, "preprocessor_", None)  # a model of a stream has none
    return table_options if preprocessor is None else table_options.name_kinds(preprocessor.list_kinds())


def _list_columns(model: HierarchicalClassifier) -> list[str] | None:
    """Return the columns that the model was trained on; None if they had no names."""
    return list(getattr(model, "feature_names_in_", ())) or None

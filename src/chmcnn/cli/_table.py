"""A table of the user: the options that say how it is read, and reading it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chmcnn._wording import count
from chmcnn.cli._annotations import AnnotationOptions, option_names
from chmcnn.cli._groups import Omit
from chmcnn.errors import DatasetError

if TYPE_CHECKING:
    import pandas as pd

    from chmcnn import Hierarchy
    from chmcnn.datasets import Table

_PANEL = "Your own table"


@dataclass(frozen=True)
class TableOptions(AnnotationOptions):
    """How to read a table of the user: the arguments of `chmcnn.datasets.read_table` and `annotate`."""

    hierarchy: Annotated[
        Path | None,
        typer.Option(help="File of the hierarchy: edges (CSV), OBO, SKOS, JSON or ARFF.", rich_help_panel=_PANEL),
    ] = None
    labels: Annotated[str, typer.Option(help="Column of labels.", rich_help_panel=_PANEL)] = "labels"
    label_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the labels of the rows: a table, or a sparse 0/1 matrix (.npz).", rich_help_panel=_PANEL
        ),
    ] = None
    class_column: Annotated[
        list[str] | None,
        typer.Option(help="Column of 0 and 1 for one class (repeatable).", rich_help_panel=_PANEL),
    ] = None
    separator: Annotated[str, typer.Option(help="Separator between labels.", rich_help_panel=_PANEL)] = ";"
    path_separator: Annotated[
        str, typer.Option(help="Separator between the parts of a label that is a path.", rich_help_panel=_PANEL)
    ] = "/"
    id_column: Annotated[
        str | None,
        typer.Option(
            help="Column with the names of the rows. A model remembers it; '' for no names.", rich_help_panel=_PANEL
        ),
    ] = None
    categorical: Annotated[
        list[str] | None, typer.Option(help="Column of categories (repeatable).", rich_help_panel=_PANEL)
    ] = None
    text: Annotated[
        list[str] | None,
        typer.Option(help="Column of text (repeatable); running text is found by itself.", rich_help_panel=_PANEL),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(help="Separator between cells. Default: comma in .csv, else tab.", rich_help_panel=_PANEL),
    ] = None

    def read(
        self,
        path: Path,
        hierarchy: Hierarchy | None = None,
        columns: Sequence[str] | None = None,
        notify: Callable[[str], None] | None = None,
        features: int | None = None,
    ) -> Table:
        """Read features and labels; the features of some columns, or of all; sparse ones have a number.

        ``notify`` is told about rows without labels.
        """
        from chmcnn.datasets import read_table

        self.refuse_without_annotations()
        if self.annotations is not None:
            return self.annotate(self._read_genes(path, columns), self.hierarchy, hierarchy, notify)
        if hierarchy is None and self.hierarchy is not None:
            hierarchy = self.read_hierarchy(self.hierarchy)
        table = read_table(
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
        if notify is not None:
            _notify_unlabelled(table, path, notify)
        return table

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


def _notify_unlabelled(table: Table, path: Path, notify: Callable[[str], None]) -> None:
    """Say how many rows have no label: they may have been forgotten."""
    unlabelled = int((table.Y.sum(axis=1) == 0).sum())
    if unlabelled:
        verb = "has" if unlabelled == 1 else "have"
        rows = f"{unlabelled:,} of {count(len(table), 'row')} of {path}"
        notify(f"{rows} {verb} no label: such rows count as rows without any class.")


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

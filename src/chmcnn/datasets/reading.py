"""`read_table` and `read_features`: features and labels from a file of any format in `FORMATS`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn.datasets.dataset import Table
from chmcnn.datasets.feature_columns import NamedColumns, read_feature_columns
from chmcnn.datasets.formats import read_hierarchy, read_raw_table
from chmcnn.datasets.label_columns import read_class_columns, read_label_column
from chmcnn.errors import LabelError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from chmcnn.datasets.raw_table import RawTable

LABELS = "labels"
"""Default name of the column of labels."""


def read_features(
    path: str | Path,
    *,
    id_column: str | int | None = None,
    categorical: Sequence[str] = (),
    text: Sequence[str] = (),
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Read features only: numbers, categories, dates and text.

    The parameters are those of `read_table`.
    """
    raw = read_raw_table(Path(path).expanduser(), delimiter)
    _refuse_for_declared(raw, id_column=id_column)
    frame = _select_columns(raw, raw.frame, columns, id_column)
    return read_feature_columns(raw, frame, id_column, NamedColumns(categorical, text))


def read_table(  # noqa: PLR0913 -- all but two by name, each with a default
    path: str | Path,
    hierarchy: Hierarchy | str | Path | None = None,
    *,
    labels: str | Sequence[str] = LABELS,
    separator: str = ";",
    path_separator: str = "/",
    id_column: str | int | None = None,
    categorical: Sequence[str] = (),
    text: Sequence[str] = (),
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
    sparse: bool = False,
) -> Table:
    """Read features and labels from a CSV, TSV, Parquet or hierarchical ARFF file.

    A column is numeric if all of its cells are numbers, has dates if all are dates such as ``2026-12-31``, and is
    categorical if none is a number. It is text if its cells have three words or more on average, and too many different
    texts for categories. An ambiguous column is nearly always a mistake, and raises an error unless ``categorical`` or
    ``text`` names it: a mixture, numbers in a local form such as ``1,5``, codes such as ``007``, dates such as
    ``1/2/26``, and names that are nearly all different. A missing value is an empty cell, ``?``, ``NA``, ``N/A``,
    ``NaN``, ``nan``, ``null`` or ``None``; among labels, ids and texts, only an empty cell.

    Parameters
    ----------
    path
        The file, plain or with ``.gz``; its ending says what it is.
    hierarchy
        The classes, or a file that `chmcnn.datasets.read_hierarchy` reads. Without it, the labels are paths such as
        ``sport/tennis``, and define the hierarchy.
    labels
        The column with the names of each row's classes, separated by ``separator``; or one column of 0 and 1 for each
        class, by their names. Ancestors of a row's classes are optional.
    separator
        Separator between labels.
    path_separator
        Separator between the parts of a label that is a path; spaces around it do not count.
    id_column
        Name or position of a column with the names of the rows, which is not a feature.
    categorical
        Columns to read as categories even if their cells look like numbers or text.
    text
        Columns to read as text even if their cells have few words, or words that repeat.
    delimiter
        Separator between the cells of a text file; by default a comma in ``.csv``, otherwise a tab.
    columns
        Columns of features, in that order; by default all columns but those of ids and labels.
    sparse
        Whether the label matrix is sparse: for many rows of many classes.
    """
    file = Path(path).expanduser()
    classes = read_hierarchy(hierarchy) if isinstance(hierarchy, str | Path) else hierarchy
    raw = read_raw_table(file, delimiter)
    frame = raw.frame
    if raw.declared:
        _refuse_for_declared(raw, id_column=id_column, labels=None if labels == LABELS else labels)
        classes = classes or raw.declared.hierarchy
        try:
            matrix = classes.encode_sparse(raw.declared.label_sets)
        except LabelError as error:
            raise raw.error(f"{error} Read the file without a hierarchy: it declares its own") from None
    elif isinstance(labels, str):
        matrix, classes = read_label_column(raw, labels, separator, path_separator, classes)
        frame = frame.drop(columns=labels)
    else:
        classes = classes or Hierarchy.from_paths(labels, path_separator)
        matrix = read_class_columns(raw, list(labels), classes)
        frame = frame.drop(columns=list(labels))
    features = _select_columns(raw, frame, columns, id_column)
    named = NamedColumns(categorical, text)
    return Table(
        read_feature_columns(raw, features, id_column, named),
        matrix if sparse else matrix.toarray(),
        classes,
        source=str(file),
    )


def _select_columns(
    raw: RawTable, frame: pd.DataFrame, columns: Sequence[str] | None, id_column: str | int | None
) -> pd.DataFrame:
    """Return some columns of features, and that of the ids."""
    if columns is None:
        return frame
    for column in columns:
        raw.require_column(column, "the features need it")
        if column not in frame.columns:
            raise raw.error("the features need it, but it has the labels", column=column)
    ids = [] if id_column is None else [id_column if isinstance(id_column, str) else str(raw.frame.columns[id_column])]
    return frame[[*columns, *(column for column in ids if column in frame and column not in columns)]]


def _refuse_for_declared(raw: RawTable, **arguments: object) -> None:
    """Refuse arguments about columns for a file that declares its labels."""
    for name, value in arguments.items():
        if raw.declared and value is not None:
            raise raw.error(f"the file itself says which columns are labels and features: {name}= does not apply")

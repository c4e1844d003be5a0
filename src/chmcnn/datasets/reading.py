"""`read_table` and `read_features`: features and labels from a file of any format in `FORMATS`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from chmcnn.datasets.dataset import Table
from chmcnn.datasets.feature_columns import NamedColumns
from chmcnn.datasets.formats import read_hierarchy, read_raw_table
from chmcnn.datasets.label_columns import read_class_columns, read_label_column
from chmcnn.datasets.raw_features import LABELS, read_raw_features
from chmcnn.errors import LabelError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from chmcnn._typing import Features
    from chmcnn.datasets.raw_table import RawTable


def read_features(
    path: str | Path,
    *,
    id_column: str | int | None = None,
    categorical: Sequence[str] = (),
    text: Sequence[str] = (),
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
    features: int | None = None,
) -> Features:
    """Read features only: numbers, categories, dates and text, or a sparse matrix.

    The parameters are those of `read_table`.
    """
    ids = [id_column] if isinstance(id_column, str) else []
    raw = read_raw_table(Path(path).expanduser(), delimiter, None if columns is None else {*columns, *ids})
    return select_features(
        raw, id_column=id_column, categorical=categorical, text=text, columns=columns, features=features
    )


def select_features(
    raw: RawTable,
    *,
    id_column: str | int | None = None,
    categorical: Sequence[str] = (),
    text: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    features: int | None = None,
) -> Features:
    """Return the features of a table whose cells are read already."""
    _refuse_for_declared(raw, id_column=id_column)
    return read_raw_features(raw, raw.frame, id_column, NamedColumns(categorical, text), columns, features)


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
    features: int | None = None,
    label_file: str | Path | None = None,
) -> Table:
    """Read features and labels from a CSV, TSV, Parquet, svmlight, ``.npz`` or hierarchical ARFF file.

    A column is numeric if all of its cells are numbers, has dates if all are dates such as ``2026-12-31``, and is
    categorical if none is a number. It is text if its cells have three words or more on average, and too many different
    texts for categories. An ambiguous column is nearly always a mistake, and raises an error unless ``categorical`` or
    ``text`` names it: a mixture, numbers in a local form such as ``1,5``, codes such as ``007``, dates such as
    ``1/2/26``, and names that are nearly all different. A missing value is an empty cell, ``?``, ``NA``, ``N/A``,
    ``NaN``, ``nan``, ``null`` or ``None``; among labels, ids and texts, only an empty cell.

    Features are sparse in svmlight files (``3,17 5:0.2 9:1``: names of classes, then number and value of features), in
    matrices of scipy (``.npz``, whose labels are in ``label_file``), and in Parquet files with lists in the columns
    ``indices`` and ``values``. Features are numbered from 0. Equal numbers in a row are added up; a svmlight file must
    have them sorted, each once.

    Parameters
    ----------
    path
        The file, plain or with ``.gz``; its ending says what it is. A folder of Parquet files with the same columns is
        one table, in the order of their names.
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
    features
        Number of sparse features, as for training; by default up to the last one in the file.
    label_file
        File with the labels of the rows, in the same order, if they are not in the table itself: any table with a
        column of labels, or a sparse 0/1 matrix (rows, classes) in the order of ``hierarchy.classes`` (``.npz``).
    """
    file = Path(path).expanduser()
    classes = read_hierarchy(hierarchy) if isinstance(hierarchy, str | Path) else hierarchy
    raw = read_raw_table(file, delimiter)
    if label_file is None and raw.matrix is not None and raw.frame.empty:
        raise raw.error("the matrix has features only: name the file with the labels in label_file=")
    source = raw if label_file is None else _read_label_file(Path(label_file).expanduser(), raw)
    labelled = _read_labels(source, classes, labels, separator, path_separator, id_column)
    named_columns = [] if source is not raw or raw.declared else [labels] if isinstance(labels, str) else list(labels)
    frame = raw.frame.drop(columns=named_columns)
    X = read_raw_features(raw, frame, id_column, NamedColumns(categorical, text), columns, features)
    return Table(X, labelled.matrix, labelled.hierarchy, source=str(file))


class _Labelled(NamedTuple):
    matrix: sparse.csr_array  # (rows, classes), with all ancestors
    hierarchy: Hierarchy


def _read_labels(
    raw: RawTable,
    classes: Hierarchy | None,
    labels: str | Sequence[str],
    separator: str,
    path_separator: str,
    id_column: str | int | None,
) -> _Labelled:
    """Read labels that a file declares, has in columns, or consists of."""
    if raw.declared:
        _refuse_for_declared(raw, id_column=id_column, labels=None if labels == LABELS else labels)
        classes = classes or raw.declared.hierarchy
        try:
            return _Labelled(classes.encode_sparse(raw.declared.label_sets), classes)
        except LabelError as error:
            raise raw.error(f"{error} Read the file without a hierarchy: it declares its own") from None
    if raw.matrix is not None and raw.frame.empty:
        return _read_label_matrix(raw, classes)
    if isinstance(labels, str):
        return _Labelled(*read_label_column(raw, labels, separator, path_separator, classes))
    classes = classes or Hierarchy.from_paths(labels, path_separator)
    return _Labelled(read_class_columns(raw, list(labels), classes), classes)


def _read_label_matrix(raw: RawTable, classes: Hierarchy | None) -> _Labelled:
    """Read labels from a sparse matrix, whose columns are the classes."""
    if classes is None:
        raise raw.error("the file has labels by position: pass the hierarchy, in whose order they are")
    try:
        return _Labelled(classes.close(cast("Any", raw.matrix)), classes)
    except LabelError as error:
        raise raw.error(str(error)) from None


def _read_label_file(path: Path, raw: RawTable) -> RawTable:
    found = read_raw_table(path, None)
    if len(found.frame) != len(raw.frame):
        raise found.error(f"the file has labels of {len(found.frame):,} rows, but {raw.path} has {len(raw.frame):,}")
    return found


def _refuse_for_declared(raw: RawTable, **arguments: object) -> None:
    """Refuse arguments about columns for a file that declares its labels."""
    for name, value in arguments.items():
        if raw.declared and value is not None:
            raise raw.error(f"the file itself says which columns are labels and features: {name}= does not apply")

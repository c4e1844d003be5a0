"""Tables as files: what `read_table` reads back the same, or an error before anything is written."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import sparse

from chmcnn._io import text
from chmcnn._io.files import atomic
from chmcnn.datasets.columns import list_kinds
from chmcnn.datasets.quick_columns import MISSING
from chmcnn.datasets.texts import TEXT
from chmcnn.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from chmcnn.datasets.dataset import Table

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_PARQUET = (".parquet", ".pq")


def write_csv(table: Table, path: Path, *, labels: str, separator: str, force: bool) -> None:
    """Write a text file, with the delimiter of its ending."""
    delimiter = _DELIMITERS.get(text.ending(path))
    if delimiter is None:
        raise DatasetError(f"{path} has the ending {text.ending(path)!r}; expected one of {', '.join(_DELIMITERS)}.")
    _refuse_existing(path, force=force)
    if not separator or separator.strip() != separator:
        raise DatasetError(f"The separator of labels is {separator!r}; expected a character such as ';' or '|'.")
    frame = _frame(table, labels)
    texts = [name for name, kind in list_kinds(frame).items() if kind != "numbers"]
    for name in texts:
        _refuse_texts(frame[name].dropna().unique(), f"column {name!r}", running=frame[name].dtype == TEXT)
    _refuse_texts(frame.columns, "the header")
    label_sets = _label_lists(table)
    for name in sorted({name for names in label_sets for name in names}):
        if separator in name or name != name.strip():
            raise DatasetError(
                f"The class {name!r} cannot be written with the separator {separator!r}; use another separator=, or "
                "to_parquet."
            )
    frame[labels] = [separator.join(names) for names in label_sets]
    texts.append(labels)
    # The minimal quoting of csv leaves a carriage return unquoted.
    returns = any(
        "\r" in str(value) for values in (frame.columns, *(frame[name] for name in texts)) for value in values
    )
    with atomic(path) as temporary:
        frame.to_csv(
            temporary,
            sep=delimiter,
            index=False,
            lineterminator="\n",
            encoding="utf-8",
            quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL,
        )


def write_parquet(table: Table, path: Path, *, labels: str, force: bool) -> None:
    """Write a Parquet file, with the labels of each row as a list."""
    if path.suffix.lower() not in _PARQUET:
        raise DatasetError(f"{path} has the ending {path.suffix!r}; expected {' or '.join(_PARQUET)}.")
    _refuse_existing(path, force=force)
    import pyarrow as pa
    from pyarrow import parquet

    content = pa.Table.from_pandas(_frame(table, labels), preserve_index=False)
    for position, field in enumerate(content.schema):
        if pa.types.is_null(getattr(field.type, "value_type", field.type)):  # nothing but missing categories
            content = content.set_column(position, field.name, pa.nulls(len(content), pa.string()))
    column = pa.array(_label_lists(table), type=pa.list_(pa.string()))
    with atomic(path) as temporary:
        parquet.write_table(content.append_column(labels, column), temporary, write_page_checksum=True)


def _refuse_existing(path: Path, *, force: bool) -> None:
    if path.is_dir():
        raise DatasetError(f"{path} is a folder; choose a file in it.")
    if path.exists() and not force:
        raise DatasetError(f"{path} already exists; choose another file, or use force=True to overwrite it.")


def _frame(table: Table, labels: str) -> pd.DataFrame:
    """Return ids and features as columns; raise an error for what a table file cannot hold."""
    features = table.X
    if sparse.issparse(features):
        raise DatasetError(
            f"The features are sparse, with {len(table.feature_names):,} columns; a table has a cell for each. Save "
            "them with scipy.sparse.save_npz, or make them dense first."
        )
    frame = features if isinstance(features, pd.DataFrame) else pd.DataFrame(features, columns=[*table.feature_names])
    columns = {str(name): _column(frame[name], str(name)) for name in frame.columns}
    ids = _ids(frame.index)
    named = {} if ids is None else {str(ids.name): ids}
    taken = [*columns, *named, labels]
    for name in taken:
        if taken.count(name) > 1:
            raise DatasetError(
                f"There would be two columns {name!r}; rename the feature or the index, or use another labels=."
            )
    return pd.DataFrame({**named, **columns})


def _ids(index: pd.Index) -> pd.Series | None:
    """Return the names of the rows, or None if they are only numbered."""
    if index.name is None and pd.api.types.is_integer_dtype(index.dtype):
        return None
    if isinstance(index, pd.MultiIndex) or index.has_duplicates or index.hasnans:
        raise DatasetError("The index has missing or equal names, or several levels; use reset_index first.")
    names = [str(name) for name in index]
    _refuse_texts(names, "the index")
    return pd.Series(names, dtype=object, name="id" if index.name is None else str(index.name))


def _column(column: pd.Series, name: str) -> pd.Series:
    """Return numbers in double precision, categories of text, and everything else as it is."""
    plain = column.reset_index(drop=True)
    if isinstance(plain.dtype, pd.CategoricalDtype):
        return plain.cat.rename_categories([str(value) for value in plain.cat.categories])
    if pd.api.types.is_integer_dtype(plain.dtype) and not plain.hasnans:
        return plain
    if pd.api.types.is_numeric_dtype(plain.dtype):  # also True and False
        numbers = plain.astype(np.float64)
        if np.isinf(numbers).any():
            raise DatasetError(f"Column {name!r} has an infinite number in row {int(np.isinf(numbers).argmax())}.")
        return numbers
    return plain


def _refuse_texts(values: Iterable[object], place: str, *, running: bool = False) -> None:
    """Raise an error for a text that would be read as missing, or without its spaces; running text keeps both."""
    for value in values:
        cell = str(value)
        if "\0" in cell or (not running and (cell in {"", *MISSING} or cell != cell.strip())):
            raise DatasetError(
                f"{place[:1].upper()}{place[1:]} has {cell!r}, which a text file does not keep; rename it, or use "
                "to_parquet."
            )


def _label_lists(table: Table) -> list[list[str]]:
    return [sorted(names) for names in table.hierarchy.decode(table.Y, most_specific=True)]

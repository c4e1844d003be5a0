"""Parquet tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from chmcnn.datasets.raw_table import RawTable
from chmcnn.errors import TableError

if TYPE_CHECKING:
    from pathlib import Path

ArrowColumn: TypeAlias = Any
"""A `pyarrow.ChunkedArray`; pyarrow has no type hints."""
_EXACT = 2**53
"""Double precision does not represent all integers beyond it."""


def read(path: Path) -> RawTable:
    """Read the columns of a Parquet file."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise TableError('Parquet needs pyarrow: pip install "chmcnn[parquet]"', path) from None
    try:
        with parquet.ParquetFile(path) as file:
            table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"the file is not Parquet: {str(error).splitlines()[0].rstrip('.')}", path) from None
    for name, times in Counter(table.column_names).items():
        if times > 1:
            raise TableError(f"there are two columns {name!r}; rename one of them", path)
    if not table.num_rows:
        raise TableError("the file has no rows", path)
    columns = {name: _to_pandas(table.column(name), name, path) for name in table.column_names}
    return RawTable(path, pd.DataFrame(columns))


def _to_pandas(column: ArrowColumn, name: str, path: Path) -> pd.Series:
    """Return a column as numbers, text, categories, dates or lists of text; raise an error for any other type."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_integer(kind):
        return _to_floats(column, name, path)
    if types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind):
        return pd.Series(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    if types.is_dictionary(kind) and (types.is_string(kind.value_type) or types.is_large_string(kind.value_type)):
        return pd.Series(column.to_pandas(), dtype="category")
    if types.is_date(kind) or types.is_timestamp(kind):
        return pd.Series(column.cast(pa.timestamp("us")).to_numpy(), dtype="datetime64[us]")
    is_text = types.is_string(kind) or types.is_large_string(kind)
    is_list = types.is_list(kind) and types.is_string(kind.value_type)
    if is_text or is_list:
        return pd.Series(column.to_pylist(), dtype=object)
    raise TableError(
        f"column {name!r} is of type {kind}; expected numbers, text, categories or dates: convert or drop it", path
    )


def _to_floats(column: ArrowColumn, name: str, path: Path) -> pd.Series:
    values = column.to_pylist()
    large = next((value for value in values if value is not None and abs(value) > _EXACT), None)
    if large is not None:
        raise TableError(f"column {name!r}: {large} is too large for an exact number; store it as text", path)
    return pd.Series([np.nan if value is None else value for value in values], dtype=np.float64)

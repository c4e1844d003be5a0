"""A table's cells as they stand in its file, and the way from a row to its line."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.datasets import delimited
from chmcnn.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PARQUET = {".parquet", ".pq"}
_EXACT = 2**53
"""Integers beyond it are not all there in double precision."""


@dataclass(frozen=True, slots=True)
class Source:
    """Columns of text, of numbers, of categories, or of lists of text; what is missing is None or NaN."""

    path: Path
    frame: pd.DataFrame
    line_of: Callable[[int], int | None] = field(default=lambda _: None)

    def error(self, problem: str, row: int | None = None, column: str | None = None) -> TableError:
        """An error about a cell: Parquet has no lines, so there the row is named."""
        line = None if row is None else self.line_of(row)
        place = f"row {row + 1}, " if row is not None and line is None else ""
        where = f"column {column!r}: " if column is not None else ""
        names = list(self.frame.columns)
        return TableError(
            f"{place}{where}{problem}", self.path, line, names.index(column) + 1 if column in names else None
        )

    def refuse_missing(self, column: str, hint: str) -> None:
        """Refuse a column that is not there."""
        names = list(self.frame.columns)
        if column not in names:
            near = _wording.nearest(column, names)
            mean = f"did you mean {near!r}? " if near else ""
            some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise self.error(f"there is no column {column!r}; {mean}{hint}. The columns are {some}")


def open_table(path: Path, delimiter: str | None) -> Source:
    """Read the cells of a CSV, TSV or Parquet file."""
    kind = text.ending(path)
    if not path.is_file():
        raise TableError("the file is not there", path)
    if kind in PARQUET:
        return _open_parquet(path)
    if kind not in delimited.DELIMITERS and delimiter is None:
        known = ", ".join([*delimited.DELIMITERS, *sorted(PARQUET)])
        raise TableError(f"the ending {kind!r} is not known; expected one of {known}, or a delimiter", path)
    between = delimited.DELIMITERS[kind] if delimiter is None else delimiter
    if len(between) != 1 or between in '\r\n"':
        raise TableError(f"the delimiter is {between!r}; expected one character, such as ',' or a tab", path)
    return Source(path, delimited.read(path, between), lambda row: delimited.line_of(path, between, row))


def _open_parquet(path: Path) -> Source:
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
            raise TableError(f"the column {name!r} is there twice; rename one of them", path)
    if not table.num_rows:
        raise TableError("the file has no rows", path)
    columns = {name: _from_arrow(table.column(name), name, path) for name in table.column_names}
    return Source(path, pd.DataFrame(columns))


def _from_arrow(column: Any, name: str, path: Path) -> pd.Series:  # noqa: ANN401 -- pyarrow has no types
    """A column as numbers, text, categories or lists of text; any other kind is refused."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_integer(kind):
        values = np.array([np.nan if value is None else value for value in column.to_pylist()], dtype=object)
        large = [value for value in values if value == value and abs(value) > _EXACT]  # noqa: PLR0124 -- not NaN
        if large:
            raise TableError(
                f"column {name!r}: {large[0]} is beyond the integers that are kept exactly; write text", path
            )
        return pd.Series(values.astype(np.float64))
    if types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind):
        return pd.Series(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    if types.is_dictionary(kind) and (types.is_string(kind.value_type) or types.is_large_string(kind.value_type)):
        return pd.Series(column.to_pandas(), dtype="category")
    is_text = types.is_string(kind) or types.is_large_string(kind)
    is_list = types.is_list(kind) and types.is_string(kind.value_type)
    if is_text or is_list:
        return pd.Series(column.to_pylist(), dtype=object)
    raise TableError(
        f"column {name!r} is of type {kind}; expected numbers, text or categories: change or drop it", path
    )

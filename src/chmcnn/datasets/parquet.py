"""Parquet tables: columns from Arrow as numbers, text, categories, dates or lists of text."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from chmcnn.datasets.raw_table import RawTable
from chmcnn.datasets.sparse_tables import has_entries, read_entries
from chmcnn.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

ArrowTable: TypeAlias = Any
"""A `pyarrow.Table`; pyarrow has no type hints."""
ArrowColumn: TypeAlias = Any
"""A `pyarrow.ChunkedArray`."""
ArrowType: TypeAlias = Any
"""A `pyarrow.DataType`."""
ParquetFile: TypeAlias = Any
"""A `pyarrow.parquet.ParquetFile`."""
_NEXT_INTEGER = b"\x15"
"""In Thrift's compact protocol: the field after the last one follows, and has a 32-bit integer."""
_EXACT = 2**53
"""Double precision does not represent all integers beyond it."""


def read(path: Path, needed: Collection[str] | None = None) -> RawTable:
    """Read the columns of a Parquet file; if only some are needed, without others that cannot be features."""
    with open_parquet(path) as file:
        if not file.metadata.num_rows:
            raise TableError("the file has no rows", path)
    return from_arrow(read_arrow(path, needed), path)


def read_arrow(path: Path, needed: Collection[str] | None = None) -> ArrowTable:
    """Read a Parquet file as a table of Arrow, and check it."""
    with open_parquet(path) as file:
        schema = file.schema_arrow
        refuse_duplicates(schema, path)
        kept = [each.name for each in schema if needed is None or each.name in needed or not _explain(each, schema)]
        for name in kept:
            _refuse_kind(schema.field(name), schema, path)
        table = file.read(columns=None if len(kept) == len(schema) else kept)
    _refuse_damaged(table, path)
    return table


@contextmanager
def open_parquet(path: Path, place: str = "the file") -> Iterator[ParquetFile]:
    """Open a file. What goes wrong while it is read is an error of the file, and so is a page that was changed."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise TableError(f"{place} is not Parquet, or is damaged: {describe(error)}; write it again", path) from None


def has_checksums(path: Path) -> bool:
    """Return whether the pages of a file have checksums, by the first page of each of its first columns.

    No library says so. A page begins with a header in Thrift's compact protocol: type, size and compressed size as
    fields 1 to 3, each an integer, then the checksum as field 4, if there is one.
    """
    with open_parquet(path) as file, path.open("rb") as content:
        group = file.metadata.row_group(0)
        starts = [_find_first_page(group.column(number)) for number in range(group.num_columns)]
        return all(_has_checksum(content, start) for start in starts)


def _find_first_page(column: ArrowColumn) -> int:
    return int(column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset)


def _has_checksum(content: IO[bytes], start: int) -> bool:
    content.seek(start)
    header = content.read(20)
    position = 0
    for _ in range(3):
        position += 1  # of the kind of the field
        while position < len(header) and header[position] & 0x80:  # an integer goes on in the next byte
            position += 1
        position += 1
    return header[position : position + 1] == _NEXT_INTEGER


def describe(error: Exception) -> str:
    """Return the first line of what Arrow says."""
    return str(error).partition("\n")[0].rstrip(".")


def to_raw_table(table: ArrowTable, path: Path, first_row: int = 0) -> RawTable:
    """Return the columns of a table, or of some of its rows, that `check_columns` accepts."""
    _refuse_damaged(table, path)
    return from_arrow(table, path, first_row)


def from_arrow(
    table: ArrowTable, path: Path, first_row: int = 0, place_of: Callable[[int], tuple[Path, int]] | None = None
) -> RawTable:
    """Do the same with a table that is checked already; see `RawTable` for ``place_of``."""
    matrix = read_entries(table, path, first_row) if has_entries(table.schema) else None
    names = [name for name in table.column_names if matrix is None or name not in ("indices", "values")]
    columns = {name: _to_pandas(table.column(name), name, path) for name in names}
    frame = pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows), copy=False)
    return RawTable(path, frame, matrix=matrix, first_row=first_row, place_of=place_of)


def _refuse_damaged(table: ArrowTable, path: Path) -> None:
    """Raise an error for text that is not UTF-8, and for lists and categories that are inconsistent."""
    import pyarrow as pa

    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise TableError(f"column {name!r} cannot be used: {describe(error)}; write it again", path) from None


def check_columns(schema: Any, path: Path) -> None:  # noqa: ANN401 -- pyarrow has no types
    """Raise an error for two columns of one name, and for a column that cannot be a feature or labels."""
    refuse_duplicates(schema, path)
    for field in schema:
        _refuse_kind(field, schema, path)


def refuse_duplicates(schema: Any, path: Path) -> None:  # noqa: ANN401
    """Raise an error for two columns of one name."""
    try:
        names = schema.names
    except UnicodeDecodeError:
        raise TableError("the name of a column is not text in UTF-8; rename it", path) from None
    for name, times in Counter(names).items():
        if times > 1:
            raise TableError(f"there are two columns {name!r}; rename one of them", path)


def _refuse_kind(field: Any, schema: Any, path: Path) -> None:  # noqa: ANN401
    problem = _explain(field, schema)
    if problem:
        raise TableError(f"column {field.name!r} is of type {field.type}{problem}", path)


def _explain(field: Any, schema: Any) -> str:  # noqa: ANN401
    """Return why a column cannot be a feature or labels; nothing if it can."""
    from pyarrow import types

    kind = field.type
    if types.is_null(kind):
        return ": it has no value in any row; drop it, or store it as numbers or text if others have some"
    if _is_plain(kind) or _is_list_of_text(kind) or (has_entries(schema) and types.is_nested(kind)):
        return ""
    nested = "make one column for each of its parts" if types.is_nested(kind) else "convert or drop it"
    return f"; expected numbers, text, categories or dates: {nested}"


def _is_plain(kind: ArrowType) -> bool:
    """Whether a column has numbers, text, categories or dates."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_date, types.is_timestamp)
    return any(test(kind) for test in tests) or is_text(kind)


def is_text(kind: ArrowType) -> bool:
    """Return whether a column has text."""
    from pyarrow import types

    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view))


def _is_list_of_text(kind: ArrowType) -> bool:
    from pyarrow import types

    is_list = any(test(kind) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list))
    return is_list and (is_text(kind.value_type) or _is_dictionary_of_text(kind.value_type))


def _is_dictionary_of_text(kind: ArrowType) -> bool:
    from pyarrow import types

    return bool(types.is_dictionary(kind) and is_text(kind.value_type))


def _to_pandas(column: ArrowColumn, name: str, path: Path) -> pd.Series:
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if _is_dictionary_of_text(kind):
        return pd.Series(column.to_pandas(), dtype="category")
    if types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_integer(kind):
        _refuse_large(column, name, path)
    if types.is_date(kind) or types.is_timestamp(kind):
        return pd.Series(column.cast(pa.timestamp("us")).to_numpy(), dtype="datetime64[us]")
    if is_text(kind):
        return pd.Series(column.cast(pa.large_string()), dtype="str")
    if _is_list_of_text(kind):
        return pd.Series(pd.arrays.ArrowExtensionArray(column.cast(pa.large_list(pa.large_string()))))
    return pd.Series(column.cast(pa.float64()).to_numpy(), copy=False)


def _refuse_large(column: ArrowColumn, name: str, path: Path) -> None:
    from pyarrow import compute

    bounds = compute.min_max(column).as_py()
    large = next((bound for bound in bounds.values() if bound is not None and abs(bound) > _EXACT), None)
    if large is not None:
        raise TableError(f"column {name!r}: {large} is too large for an exact number; store it as text", path)

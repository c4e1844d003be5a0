"""Delimited text through Arrow: quick, and only for files about which all readers agree."""

from __future__ import annotations

import csv
import mmap
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from chmcnn._io import text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

_BYTES_OF_A_COLUMN = 4096
"""Bytes of each column in a block: in much smaller blocks, a wide table would become millions of tiny arrays."""
_LEAST_BLOCK = 1 << 22
_DOUBTFUL = (b"\0", b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""A zero byte is no text, and the separators of files to records are spaces for Python, but not for Arrow."""

_LONE_RETURN = re.compile(rb"\r(?!\n)")


def read_quickly(path: Path, delimiter: str, header: Sequence[str]) -> pd.DataFrame | None:
    """Return all cells as text, empty ones as missing; None for a file that needs a closer look.

    Rows of another length, bytes that are no text, and unusual quotes need one: the csv module then says what is wrong,
    and where.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow

    if len(header) == 1 or not delimiter.isascii() or (delimiter.isspace() and delimiter != "\t"):
        return None  # a line of spaces may be a row, or none
    content = _map_bytes(path)
    if content is None or _is_doubtful(content, delimiter):
        return None
    try:
        table = arrow.read_csv(
            pa.BufferReader(pa.py_buffer(content)),
            arrow.ReadOptions(block_size=max(_LEAST_BLOCK, len(header) * _BYTES_OF_A_COLUMN)),
            arrow.ParseOptions(delimiter=delimiter, newlines_in_values=_has(content, b'"')),
            arrow.ConvertOptions(
                column_types=dict.fromkeys(header, pa.large_string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except pa.ArrowException:
        return None
    if table.column_names != list(header) or not table.num_rows or any(map(_has_long_cell, table.columns)):
        return None
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _map_bytes(path: Path) -> mmap.mmap | bytes | None:
    """Return the bytes of a file, without a copy of them unless it is compressed."""
    try:
        with text.open_bytes(path) as file:
            if path.suffix.lower() == ".gz":
                return file.read()
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError:  # not gzip, or nothing that can be mapped
        return None


def _is_doubtful(content: mmap.mmap | bytes, delimiter: str) -> bool:
    """Whether readers may disagree about some bytes."""
    if any(_has(content, byte) for byte in _DOUBTFUL) or (_has(content, b"\r") and _LONE_RETURN.search(content)):
        return True
    return _has(content, b'"') and _well_quoted(delimiter).fullmatch(content) is None


def _has(content: mmap.mmap | bytes, byte: bytes) -> bool:
    return content.find(byte) >= 0


@cache
def _well_quoted(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of a file in which quotes surround whole cells, or are doubled in them; it is linear."""
    end = b"\r\n" + re.escape(delimiter.encode())
    return re.compile(rb'(?:[^"]++|(?<![^%b])"(?:[^"]++|"")*+"(?![^%b]))*+' % (end, end))


def _has_long_cell(column: Any) -> bool:  # noqa: ANN401 -- pyarrow has no types
    """Whether a cell is longer than the csv module allows."""
    from pyarrow import compute

    limit = csv.field_size_limit()
    return bool(column.nbytes > limit and compute.max(compute.binary_length(column)).as_py() > limit)

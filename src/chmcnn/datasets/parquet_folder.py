"""A folder of Parquet files as one table, which fits into memory; `row_groups` reads one that does not."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from chmcnn.datasets.parquet import from_arrow, read_arrow
from chmcnn.datasets.row_groups import find_files, open_groups

if TYPE_CHECKING:
    from pathlib import Path

    from chmcnn.datasets.raw_table import RawTable


def read(folder: Path) -> RawTable:
    """Read all files of a folder, in the order of their names; they need the same columns with the same types."""
    import pyarrow as pa

    files = find_files([folder])
    schema, _ = open_groups(files)
    parts = [read_arrow(path).select(schema.names).replace_schema_metadata() for path in files]
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + part.num_rows)

    def find_place(row: int) -> tuple[Path, int]:
        number = bisect.bisect_right(ends, row) - 1
        return files[number], row - ends[number]

    joined = pa.concat_tables(parts, promote_options="default").unify_dictionaries()
    return from_arrow(joined, folder, place_of=find_place)

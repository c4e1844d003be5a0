"""`RowGroups`: rows of Parquet files that need not fit into memory."""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from chmcnn.datasets.dataset import Table
from chmcnn.datasets.feature_columns import NamedColumns
from chmcnn.datasets.label_columns import read_class_columns, read_label_column
from chmcnn.datasets.parquet import check_columns, is_text, open_parquet, to_raw_table
from chmcnn.datasets.raw_features import LABELS, read_raw_features
from chmcnn.datasets.raw_table import RawTable
from chmcnn.datasets.sparse_tables import check_last_place, find_last_place, has_entries
from chmcnn.datasets.texts import is_running_text
from chmcnn.errors import DatasetError, TableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy

WINDOW = 10_000
"""Rows that are in memory and shuffled at once."""
_FIRST_ROWS = 1000
"""Rows whose cells say whether a column of strings has running text; in fewer, categories may look like it."""
_ENDINGS = (".parquet", ".pq")


class RowGroup(NamedTuple):
    """Some rows that are next to each other in a file."""

    path: Path
    number: int  # in the file
    rows: int
    first_row: int  # in the file


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Rows of one or several Parquet files with the same columns, read some at a time.

    `chmcnn.CHMCNNClassifier.fit` takes it in the place of X and y. Features are as for `chmcnn.datasets.read_table`,
    except that a column of strings has running text, if its first 1,000 cells look like it, and otherwise categories.
    The rows of a file are read in groups, as they are stored.

    Parameters
    ----------
    paths
        Files, folders with ``.parquet`` files, or patterns such as ``big/*.parquet``.
    hierarchy
        The classes.
    labels, separator, path_separator, id_column, categorical, text
        As for `chmcnn.datasets.read_table`.
    window
        Rows that are in memory and shuffled at once.

    Examples
    --------
    >>> import tempfile; from chmcnn import Hierarchy; from chmcnn.datasets import Table
    >>> tree = Hierarchy.from_paths(["a/b", "c"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Table(np.eye(3), ["a/b", "c", "a"], tree).to_parquet(Path(folder, "part.parquet"))
    ...     len(RowGroups([folder], tree))
    3
    """

    paths: Iterable[str | Path]
    hierarchy: Hierarchy
    labels: str | Sequence[str] = LABELS
    separator: str = ";"
    path_separator: str = "/"
    id_column: str | None = None
    window: int = WINDOW
    categorical: Sequence[str] = ()
    text: Sequence[str] = ()
    files: tuple[Path, ...] = field(init=False)
    groups: tuple[RowGroup, ...] = field(init=False)
    columns: tuple[str, ...] = field(init=False)  # in the order of the first file
    named: NamedColumns = field(init=False)  # all columns of strings
    features: int | None = field(init=False)  # the number of sparse ones; None for columns

    def __post_init__(self) -> None:
        """Find the files, and check that they fit together."""
        if self.window < 1:
            raise DatasetError(f"window is {self.window}; expected 1 row or more.")
        files = tuple(find_files(self.paths))
        schema, groups = open_groups(files)
        named = NamedColumns(self.categorical, self.text)
        named.check(RawTable(files[0], pd.DataFrame(columns=schema.names)))
        self._set(files=files, groups=groups, columns=tuple(schema.names))
        if has_entries(schema):
            self._set(named=named, features=count_features(groups, self.window))
        else:
            self._set(named=self._name_strings(schema), features=None)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(group.rows for group in self.groups)

    def draw(self, share: float, seed: int) -> dict[RowGroup, NDArray[np.bool_]]:
        """Draw a share of the rows by a seed: for each group, which of its rows."""
        return {
            group: np.random.default_rng([seed, number]).random(group.rows) < share
            for number, group in enumerate(self.groups)
        }

    def read(self, group: RowGroup) -> Iterator[tuple[slice, Table]]:
        """Yield the rows of a group, at most a window of them at a time, with their place in the group."""
        start = 0
        for batch in self._read_batches(group):
            end = start + batch.num_rows
            if batch.num_rows:
                yield slice(start, end), self._to_table(batch, group, start)
            start = end
        if start != group.rows:
            raise TableError(
                f"the file ends early: row group {group.number + 1} has {start:,} of {group.rows:,} rows; write it "
                "again",
                group.path,
            )

    def _read_batches(self, group: RowGroup, columns: Sequence[str] | None = None) -> Iterator[Any]:
        with open_parquet(group.path, f"row group {group.number + 1}") as file:
            for batch in file.iter_batches(self.window, row_groups=[group.number], columns=columns):
                yield batch.select(columns or self.columns)

    def _name_strings(self, schema: Any) -> NamedColumns:  # noqa: ANN401 -- pyarrow has no types
        """Return the kinds of all columns of strings: as the user names them, or else by their first cells."""
        known = {self.id_column, *self.categorical, *self.text}
        known |= {self.labels} if isinstance(self.labels, str) else {*self.labels}
        names = [each.name for each in schema if is_text(each.type) and each.name not in known]
        first = self._read_first(names) if names else pd.DataFrame()
        text = [name for name in names if is_running_text(first[name].dropna())]
        return NamedColumns((*self.categorical, *(name for name in names if name not in text)), (*self.text, *text))

    def _read_first(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read the first cells of some columns."""
        parts: list[pd.DataFrame] = []
        missing = _FIRST_ROWS
        for group in self.groups:
            for batch in self._read_batches(group, columns):
                parts.append(self._to_raw(batch.slice(0, missing), group).frame)
                missing -= len(parts[-1])
                if missing <= 0:
                    return pd.concat(parts)
        return pd.concat(parts)

    def _to_table(self, batch: Any, group: RowGroup, start: int) -> Table:  # noqa: ANN401 -- pyarrow has no types
        raw = self._to_raw(batch, group, start)
        labels = self._read_labels(raw)
        frame = raw.frame.drop(columns=[self.labels] if isinstance(self.labels, str) else list(self.labels))
        features = read_raw_features(raw, frame, self.id_column, self.named, features=self.features)
        return Table(features, labels, self.hierarchy, source=str(group.path))

    def _to_raw(self, batch: Any, group: RowGroup, start: int = 0) -> RawTable:  # noqa: ANN401 -- pyarrow has no types
        import pyarrow as pa

        return to_raw_table(pa.Table.from_batches([batch]), group.path, group.first_row + start)

    def _read_labels(self, raw: RawTable) -> Any:  # noqa: ANN401 -- a sparse matrix
        if isinstance(self.labels, str):
            return read_label_column(raw, self.labels, self.separator, self.path_separator, self.hierarchy)[0]
        return read_class_columns(raw, list(self.labels), self.hierarchy)


def find_files(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files of folders and patterns, sorted, each once."""
    found: dict[Path, None] = {}
    for each in paths:
        path = Path(each).expanduser()
        if path.is_dir():
            matches = sorted(file for file in path.iterdir() if _is_part(file))
        else:
            matches = [path] if path.is_file() else sorted(map(Path, glob.glob(str(path))))  # noqa: PTH207 -- any folder
        if not matches:
            raise DatasetError(f"{each} has no Parquet files; expected files, a folder of them, or 'big/*.parquet'.")
        for file in matches:
            if file.suffix.lower() not in _ENDINGS:
                raise TableError("only Parquet files can be streamed; convert the table to Parquet", file)
        found |= dict.fromkeys(matches)
    if not found:
        raise DatasetError("There are no files to stream; expected Parquet files.")
    return list(found)


def _is_part(path: Path) -> bool:
    """Whether a file of a folder has rows: others begin with a dot or an underscore, by an old custom."""
    return path.suffix.lower() in _ENDINGS and not path.name.startswith((".", "_"))


def open_groups(files: Sequence[Path]) -> tuple[Any, tuple[RowGroup, ...]]:
    """Return the schema of several files, which must be the same, and their groups that have rows."""
    opened = {path: _open(path) for path in files}
    schema = opened[files[0]][0]
    check_columns(schema, files[0])
    for path in files[1:]:
        _refuse_other_schema(files[0], schema, path, opened[path][0])
    groups = tuple(group for _, found in opened.values() for group in found)
    if not groups:
        raise TableError("the files have no rows", files[0])
    return schema, groups


def count_features(groups: Sequence[RowGroup], window: int) -> int:
    """Return the number of sparse features: up to the last one of all groups."""
    last = 0
    for path, found in groupby(groups, key=lambda group: group.path):
        with open_parquet(path) as file:
            last = max(last, *(find_last_place(file, group.number, window) for group in found))
            check_last_place(last, path)
    return last + 1


def read_group(group: RowGroup, columns: Sequence[str] | None = None) -> Any:  # noqa: ANN401 -- pyarrow has no types
    """Return a group as a table of Arrow: some columns, of those that the file has, or all."""
    with open_parquet(group.path, f"row group {group.number + 1}") as file:
        known = None if columns is None else [name for name in file.schema_arrow.names if name in columns]
        return file.read_row_group(group.number, columns=known)


def _open(path: Path) -> tuple[Any, list[RowGroup]]:
    """Return the schema of a file, and its groups that have rows."""
    with open_parquet(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
    rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    starts = np.cumsum([0, *rows]).tolist()
    return schema, [RowGroup(path, number, size, starts[number]) for number, size in enumerate(rows) if size]


def _refuse_other_schema(first: Path, expected: Any, path: Path, schema: Any) -> None:  # noqa: ANN401 -- pyarrow has no types
    """Raise an error for a column that only one of two files has, or that has another type."""
    types = [{each.name: each.type for each in each_schema} for each_schema in (expected, schema)]
    for name in [*types[0], *types[1]]:
        kinds = [each.get(name) for each in types]
        if kinds[0] == kinds[1]:
            continue
        if None in kinds:
            has, lacks = (first, path) if kinds[1] is None else (path, first)
            raise TableError(f"column {name!r} is only in this file, and not in {lacks}; all need the same", has)
        raise TableError(
            f"column {name!r} is of type {kinds[1]}, but of type {kinds[0]} in {first}; write both with the same type",
            path,
        )

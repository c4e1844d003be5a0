"""Which rows a system is trained on, and which it is tested on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from chmcnn import _wording
from chmcnn.datasets.dataset import Dataset, Table, split
from chmcnn.datasets.registry import load
from chmcnn.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

TEST_SHARE = 0.2
"""Share of the rows of a table that are held out to test on, where it is not divided into folds."""


class Split(NamedTuple):
    """Rows to train on, to stop by (None where the system draws them from the first), and to test on."""

    train: Table
    valid: Table | None
    test: Table
    evaluated: NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True)
class Source:
    """Data to compare systems on: one of the benchmark's by its name, a data set, or a table.

    It is small where it names a data set: that is loaded only where its rows are asked for.
    """

    name: str
    data: Dataset | Table | None = None
    data_dir: Path | None = None

    @property
    def has_test_rows(self) -> bool:
        """Whether the data says itself which rows to test on."""
        return not isinstance(self.data, Table)

    def split(self, seed: int = 0) -> Split:
        """Its own parts, or those drawn with a seed where it has none."""
        data = self._rows(seed)
        if isinstance(data, Dataset):
            return Split(data.train, data.valid, data.test, data.evaluated)
        held_in, held_out = split(data, 1 - TEST_SHARE, TEST_SHARE, seed=seed)
        return Split(held_in, None, _labelled(held_out, self.name, "the rows held out"), None)

    def fold(self, number: int, folds: int) -> Split:
        """One of several folds over all rows of a table, or over the training and validation rows of a data set."""
        data = self._rows(0)
        rows = _joined(data.train, data.valid) if isinstance(data, Dataset) else data
        if len(rows) < 2 * folds:
            raise DatasetError(
                f"{self.name} has {_wording.count(len(rows), 'row')}, too few for {folds} folds of 2 rows or more; "
                "use fewer folds."
            )
        order = np.random.default_rng(0).permutation(len(rows))
        inside = np.zeros(len(rows), dtype=np.bool_)
        inside[order[number::folds]] = True
        test = _labelled(rows.take(np.flatnonzero(inside)), self.name, f"fold {number} of {folds}")
        evaluated = data.evaluated if isinstance(data, Dataset) else None
        return Split(rows.take(np.flatnonzero(~inside)), None, test, evaluated)

    def loaded(self) -> Source:
        """The same with its rows at hand."""
        return replace(self, data=self._rows(0))

    def described(self) -> tuple[str, dict[str, int]]:
        """A digest of all rows, labels and classes, and how many there are."""
        data = self._rows(0)
        tables = list(data.parts.values()) if isinstance(data, Dataset) else [data]
        sizes = {
            "rows": sum(map(len, tables)),
            "features": len(tables[0].feature_names),
            "classes": len(tables[0].hierarchy),
        }
        return digest(tables), sizes

    def _rows(self, seed: int) -> Dataset | Table:
        if self.data is None:
            return load(self.name, data_dir=self.data_dir, seed=seed, quiet=True)
        return self.data


def digest(tables: Iterable[Table]) -> str:
    """A digest of rows, labels and classes."""
    parts = list(tables)
    found = hashlib.sha256(parts[0].hierarchy.to_json().encode())
    for table in parts:
        _add(found, table)
    return found.hexdigest()


def _joined(first: Table, second: Table) -> Table:
    tables = (first, second)
    features, labels = [table.X for table in tables], [table.Y for table in tables]
    if isinstance(features[0], pd.DataFrame):
        rows = pd.concat(features)
    else:
        rows = sparse.vstack(features, format="csr") if sparse.issparse(features[0]) else np.concatenate(features)
    marks = sparse.vstack(labels, format="csr") if sparse.issparse(labels[0]) else np.concatenate(labels)
    return Table(rows, marks, first.hierarchy, first.source)


def _labelled(test: Table, name: str, which: str) -> Table:
    if not test.Y.sum():
        raise DatasetError(
            f"{name} has {_wording.count(len(test), 'row')} in {which}, and none has a class: there is nothing to test "
            "on. It needs more rows, or fewer folds."
        )
    return test


def _add(found: hashlib._Hash, table: Table) -> None:
    found.update(repr((len(table), table.feature_names)).encode())
    for matrix in (table.X, table.Y):
        if isinstance(matrix, pd.DataFrame):
            found.update(pd.util.hash_pandas_object(matrix, index=False).to_numpy().tobytes())
            continue
        csr = isinstance(matrix, sparse.csr_array)
        parts = (matrix.data, matrix.indices, matrix.indptr) if csr else (matrix,)
        for part in parts:
            found.update(np.ascontiguousarray(part).tobytes())

"""Rows to train on, to validate on and to test on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from chmcnn import _wording
from chmcnn.datasets.catalogue import EMBEDDED, catalogue
from chmcnn.datasets.dataset import Dataset, Table, split
from chmcnn.datasets.registry import is_here, load
from chmcnn.datasets.stratification import stratify
from chmcnn.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from chmcnn.estimator import HierarchicalClassifier

TEST_SHARE = 0.2
"""Share of the rows of a table that are drawn to test on, where there are no folds."""
_ROWS_AT_ONCE = 256
"""Rows whose labels are dense at the same time."""


class Split(NamedTuple):
    """Rows to train on, to validate on (None: the estimator draws them from the first), and to test on."""

    train: Table
    valid: Table | None
    test: Table
    evaluated: NDArray[np.bool_] | None

    @classmethod
    def without_test(cls, data: Dataset | Table) -> Split:
        """Return the rows of a data set, or all rows of a table, with no row to test on."""
        if isinstance(data, Dataset):
            return cls(data.train, data.valid, data.test.take([]), data.evaluated)
        return cls(data, None, data.take([]), None)

    def fit(self, model: HierarchicalClassifier) -> None:
        """Fit a model to the rows to train on, with those to validate on."""
        valid = None if self.valid is None else (self.valid.X, self.valid.Y)
        model.fit(self.train.X, self.train.Y, validation_data=valid)


@dataclass(frozen=True, slots=True)
class Source:
    """Data to compare systems on: the name of a data set of the benchmark, a data set, or a table.

    Without ``data``, the data set is loaded each time its rows are needed.
    """

    name: str
    data: Dataset | Table | None = None
    data_dir: Path | None = None

    @property
    def has_test_rows(self) -> bool:
        """Whether the data have test rows of their own."""
        return not isinstance(self.data, Table)

    def split(self, seed: int = 0) -> Split:
        """Return the parts of a data set, or parts of a table drawn with a seed."""
        data = self._get_rows(seed)
        if isinstance(data, Dataset):
            return Split(data.train, data.valid, data.test, data.evaluated)
        train, held_out = split(data, 1 - TEST_SHARE, TEST_SHARE, seed=seed)
        return Split(train, None, _refuse_unlabelled(held_out, self.name, "the rows to test on"), None)

    def fold(self, number: int, folds: int) -> Split:
        """Return one of several stratified folds: of all rows of a table, or all but the test rows of a data set."""
        data = self._get_rows(0)
        rows = _concatenate(data.train, data.valid) if isinstance(data, Dataset) else data
        if len(rows) < 2 * folds:
            raise DatasetError(
                f"{self.name} has {_wording.count(len(rows), 'row')}, too few for {folds} folds of at least 2 rows; "
                "use fewer folds."
            )
        sizes = [len(range(place, len(rows), folds)) for place in range(folds)]
        parts = stratify(rows.Y, sizes, seed=0)
        test = _refuse_unlabelled(rows.take(parts[number]), self.name, f"fold {number} of {folds}")
        others = np.sort(np.concatenate([part for place, part in enumerate(parts) if place != number]))
        return Split(rows.take(others), None, test, data.evaluated if isinstance(data, Dataset) else None)

    def load(self, seed: int = 0) -> Source:
        """Return the same source with its rows in memory."""
        return replace(self, data=self._get_rows(seed))

    def find(self) -> Source | None:
        """Return the source as this machine has it: in memory, or in verified files; None if files are missing."""
        if self.data is not None:
            return self
        folder = self.data_dir if self.data_dir and self.data_dir.is_dir() else None  # it may be of another machine
        return replace(self, data_dir=folder) if is_here(self.name, folder) else None

    def depends_on_seed(self) -> bool:
        """Whether a seed draws the validation rows of a data set by name, which has none of its own."""
        return self.data is None and self.name != EMBEDDED and "valid" not in catalogue()[self.name].files

    def digest(self, *, folds: bool = False) -> str:
        """Return a digest of all rows, labels and classes, and of the way in which test rows are drawn from them."""
        data = self._get_rows(0)
        digest = compute_digest(data.parts.values() if isinstance(data, Dataset) else [data])
        return f"{digest}-stratified" if folds or not self.has_test_rows else digest

    def sizes(self, *, folds: bool = False) -> dict[str, int]:
        """Return the numbers of rows, features and classes; folds do not use the test rows of a data set."""
        data = self._get_rows(0)
        tables = list(data.parts.values()) if isinstance(data, Dataset) else [data]
        if folds and isinstance(data, Dataset):
            tables = [data.train, data.valid]
        return {
            "rows": sum(map(len, tables)),
            "features": len(tables[0].feature_names),
            "classes": len(tables[0].hierarchy),
        }

    def _get_rows(self, seed: int) -> Dataset | Table:
        if self.data is None:
            return load(self.name, data_dir=self.data_dir, seed=seed, quiet=True)
        return self.data


def compute_digest(tables: Iterable[Table]) -> str:
    """Return a digest of rows, labels and classes."""
    parts = list(tables)
    digest = hashlib.sha256(parts[0].hierarchy.to_json(titles=False).encode())
    for table in parts:
        _update(digest, table)
    return digest.hexdigest()


def _concatenate(first: Table, second: Table) -> Table:
    tables = (first, second)
    features, labels = [table.X for table in tables], [table.Y for table in tables]
    if isinstance(features[0], pd.DataFrame):
        rows = pd.concat(features)
    else:
        rows = sparse.vstack(features, format="csr") if sparse.issparse(features[0]) else np.concatenate(features)
    return Table(rows, sparse.vstack(labels, format="csr"), first.hierarchy, first.source)


def _refuse_unlabelled(test: Table, name: str, which: str) -> Table:
    if not test.Y.nnz:
        raise DatasetError(
            f"{name} has {_wording.count(len(test), 'row')} in {which}, but none has a class. Use more rows, or "
            "fewer folds."
        )
    return test


def _update(digest: hashlib._Hash, table: Table) -> None:
    digest.update(repr((len(table), table.feature_names)).encode())
    features = table.X
    if isinstance(features, pd.DataFrame):
        digest.update(pd.util.hash_pandas_object(features, index=False).to_numpy().tobytes())
    else:
        csr = isinstance(features, sparse.csr_array)
        for part in (features.data, features.indices, features.indptr) if csr else (features,):
            digest.update(np.ascontiguousarray(part).tobytes())
    for start in range(0, len(table), _ROWS_AT_ONCE):  # the digest of the dense matrix, which stored results have
        digest.update(table.Y[start : start + _ROWS_AT_ONCE].toarray().tobytes())

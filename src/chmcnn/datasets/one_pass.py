"""`OnePass` and `SparsePasses`: what a `Preprocessor` learns, from rows of which only some are in memory at a time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from sklearn.preprocessing import StandardScaler

from chmcnn.datasets.columns import (
    Categories,
    Column,
    Dates,
    Numbers,
    Texts,
    choose_scales,
    create_texts,
    find_kind,
    has_text,
    list_order,
    to_texts,
)
from chmcnn.datasets.preprocessing import (
    Preprocessor,
    add_up,
    compute_means,
    fill,
    find_largest,
    is_constant,
    leave_out_missing,
    measure_lengths,
)
from chmcnn.datasets.texts import COUNTED_TERMS, TermCounts
from chmcnn.errors import FeatureError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray
    from scipy import sparse

_MOST_CATEGORIES = 10_000
"""A column with more different texts has names or running text."""


class OnePass:
    """Means, scales, categories and words of the columns of tables.

    Examples
    --------
    >>> import pandas as pd
    >>> one_pass = OnePass()
    >>> for sizes in ([1.0, 2.0], [6.0]):
    ...     one_pass.add(pd.DataFrame({"size": sizes}))
    >>> one_pass.create(standardise=True).means_
    array([3.])
    """

    def __init__(self) -> None:
        self.rows = 0
        self._names: list[str] = []
        self._numbers: dict[str, Numbers | Dates] = {}
        self._scalers: dict[str, StandardScaler] = {}
        self._counts: dict[str, Counter[str]] = {}
        self._terms: dict[str, TermCounts] = {}

    def add(self, table: pd.DataFrame) -> None:
        """Learn from some rows, which have the same columns as all others."""
        self.rows += len(table)
        self._names = [str(name) for name in table.columns]
        for name in self._names:
            column = table[name]
            kind = find_kind(column)
            if kind is Categories:
                self._count(name, column)
            elif kind is Texts:
                self._terms.setdefault(name, TermCounts(COUNTED_TERMS)).add(to_texts(column))
            else:
                self._numbers[name] = Dates() if kind is Dates else Numbers()
                with np.errstate(over="ignore", invalid="ignore"):  # refused in `create`
                    self._scalers.setdefault(name, StandardScaler()).partial_fit(self._numbers[name].encode(column))

    def create(self, *, standardise: bool) -> Preprocessor:
        """Return the fitted preprocessor."""
        preprocessor = _create([self._column(name) for name in self._names], standardise=standardise)
        columns = preprocessor.columns_
        parts = [self._measure(self._names[position], columns[position]) for position in list_order(columns)]
        preprocessor.means_ = np.concatenate([means for means, _ in parts])
        deviations = np.concatenate([deviations for _, deviations in parts])
        preprocessor.scales_ = choose_scales(deviations, columns) if standardise else np.ones(len(deviations))
        preprocessor.sparse_ = has_text(columns)
        preprocessor.feature_names_in_ = np.array(self._names, dtype=object)
        return preprocessor

    def _count(self, name: str, column: pd.Series) -> None:
        counts = self._counts.setdefault(name, Counter())
        counts.update({str(value): int(count) for value, count in column.value_counts().items() if count})
        if len(counts) > _MOST_CATEGORIES:
            raise FeatureError(
                f"Column {name!r} has more than {_MOST_CATEGORIES:,} different texts: names, or running text. Name it "
                "in id_column= or text=, or drop it."
            )

    def _column(self, name: str) -> Column:
        if name in self._terms:
            return create_texts(name, self._terms[name])
        return Categories(tuple(sorted(self._counts[name]))) if name in self._counts else self._numbers[name]

    def _measure(self, name: str, column: Column) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return means, and deviations after missing values have become means; zeros for text, which is not scaled."""
        if isinstance(column, Texts):
            return np.zeros(column.width), np.zeros(column.width)
        if name in self._counts:
            shares = np.array([count for _, count in sorted(self._counts[name].items())]) / self.rows
            return shares, np.sqrt(shares * (1 - shares))
        scaler = self._scalers[name]
        seen = np.broadcast_to(scaler.n_samples_seen_, scaler.mean_.shape)
        means, variances = np.nan_to_num(scaler.mean_), np.nan_to_num(scaler.var_) * seen / self.rows
        if not np.isfinite(variances).all():
            raise FeatureError(f"The values of {name!r} are too large: their variance overflows; scale them down.")
        return means, np.where(is_constant(scaler), 0.0, np.sqrt(variances))


class SparsePasses:
    """Means and scales of sparse features, from two passes: lengths of rows depend on the largest values of all rows.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> passes, rows = SparsePasses(2), [csr_array([[4.0, 0.0]]), csr_array([[0.0, 1.0]])]
    >>> for add in (passes.add, passes.add_lengths):
    ...     for matrix in rows:
    ...         add(matrix)
    >>> passes.create(standardise=True).scales_
    array([4., 1.])
    """

    def __init__(self, features: int) -> None:
        self._sums, self._counts = np.zeros(features), np.zeros(features, dtype=np.int64)
        self._largest = np.ones(features)
        self._lengths, self._rows = 0.0, 0  # of rows that are not zero

    def add(self, matrix: sparse.csr_array) -> None:
        """Learn from some rows."""
        sums, counts = add_up(matrix)
        with np.errstate(over="ignore", invalid="ignore"):  # refused in `create`
            self._sums += sums
        self._counts += counts
        self._largest = np.maximum(self._largest, find_largest(leave_out_missing(matrix)))

    def add_lengths(self, matrix: sparse.csr_array) -> None:
        """Learn from some rows in the second pass, which features that are not scaled do not need."""
        filled = matrix.copy()
        fill(filled, self._sums / np.maximum(self._counts, 1))
        lengths = measure_lengths(filled, self._largest)
        self._lengths += float(lengths.sum())
        self._rows += len(lengths)

    def create(self, *, standardise: bool) -> Preprocessor:
        """Return the fitted preprocessor."""
        preprocessor = _create([Numbers()] * len(self._sums), standardise=standardise)
        preprocessor.means_ = compute_means(preprocessor, self._sums, self._counts)
        length = self._lengths / self._rows if self._rows else 1.0
        preprocessor.scales_ = self._largest * length if standardise else np.ones(len(self._sums))
        preprocessor.sparse_ = True
        return preprocessor


def _create(columns: Sequence[Column], *, standardise: bool) -> Preprocessor:
    preprocessor = Preprocessor(standardise=standardise)
    preprocessor.columns_, preprocessor.n_features_in_ = list(columns), len(columns)
    return preprocessor

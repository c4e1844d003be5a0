"""`OnePass`: what a `Preprocessor` learns, from tables of which only one is in memory at a time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from sklearn.preprocessing import StandardScaler

from chmcnn.datasets.columns import Categories, Column, Dates, Numbers, find_kind
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.errors import FeatureError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_MOST_CATEGORIES = 10_000
"""A column with more different texts has names or running text."""


class OnePass:
    """Means, scales and categories of the columns of tables.

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

    def add(self, table: pd.DataFrame) -> None:
        """Learn from some rows, which have the same columns as all others."""
        self.rows += len(table)
        self._names = [str(name) for name in table.columns]
        for name in self._names:
            column = table[name]
            kind = find_kind(column)
            if kind is Categories:
                self._count(name, column)
            else:
                self._numbers[name] = Dates() if kind is Dates else Numbers()
                self._scalers.setdefault(name, StandardScaler()).partial_fit(self._numbers[name].encode(column))

    def create(self, *, standardise: bool) -> Preprocessor:
        """Return the fitted preprocessor."""
        preprocessor = Preprocessor(standardise=standardise)
        preprocessor.columns_ = [self._column(name) for name in self._names]
        parts = [self._measure(name) for name in self._names]
        preprocessor.means_ = np.concatenate([means for means, _ in parts])
        deviations = np.concatenate([deviations for _, deviations in parts])
        preprocessor.scales_ = np.where(deviations > 0, deviations, 1.0) if standardise else np.ones(len(deviations))
        preprocessor.sparse_ = False
        preprocessor.feature_names_in_ = np.array(self._names, dtype=object)
        preprocessor.n_features_in_ = len(self._names)
        return preprocessor

    def _count(self, name: str, column: pd.Series) -> None:
        counts = self._counts.setdefault(name, Counter())
        counts.update({str(value): int(count) for value, count in column.value_counts().items() if count})
        if len(counts) > _MOST_CATEGORIES:
            raise FeatureError(
                f"Column {name!r} has more than {_MOST_CATEGORIES:,} different texts: names, or running text, which "
                "cannot be streamed. Name it in id_column=, drop it, or read the table as a whole."
            )

    def _column(self, name: str) -> Column:
        return Categories(tuple(sorted(self._counts[name]))) if name in self._counts else self._numbers[name]

    def _measure(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return means, and deviations after missing values have become means."""
        if name in self._counts:
            shares = np.array([count for _, count in sorted(self._counts[name].items())]) / self.rows
            return shares, np.sqrt(shares * (1 - shares))
        scaler = self._scalers[name]
        seen = np.broadcast_to(scaler.n_samples_seen_, scaler.mean_.shape)
        means, variances = np.nan_to_num(scaler.mean_), np.nan_to_num(scaler.var_) * seen / self.rows
        if not np.isfinite(variances).all():
            raise FeatureError(f"The values of {name!r} are too large: their variance overflows.")
        is_constant = (scaler.scale_ == 1.0) & (scaler.var_ != 1.0)  # up to rounding, as scikit-learn judges it
        return means, np.where(is_constant, 0.0, np.sqrt(variances))

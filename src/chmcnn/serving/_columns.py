"""Columns that a model takes, and values of requests that become one table when all rows of a batch are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chmcnn._typing import Features, JSONValue
    from chmcnn.estimator import HierarchicalClassifier


class InputColumn(NamedTuple):
    """A column that the model takes: its name and kind, and the categories that it knows."""

    name: str
    kind: str
    categories: list[str] | None = None


def list_columns(model: HierarchicalClassifier) -> list[InputColumn]:
    """Return the named columns of a model; none if they have no names."""
    preprocessor = getattr(model, "preprocessor_", None)  # a model of a stream has none
    kinds = {} if preprocessor is None else preprocessor.list_kinds()
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if not names:
        return []
    categories = getattr(preprocessor, "categories_", [None] * len(names))
    return [
        InputColumn(name, kinds.get(name, "numbers"), None if known is None else list(known))
        for name, known in zip(names, categories, strict=True)
    ]


class Records(NamedTuple):
    """Checked values of rows, of columns of any kind."""

    columns: list[InputColumn]
    rows: list[list[JSONValue]]

    def to_table(self) -> pd.DataFrame:
        """Return the values, each column of its kind."""
        cells = zip(*self.rows, strict=True)
        return pd.DataFrame(
            {
                column.name: _CONVERSIONS[column.kind](list(each))
                for column, each in zip(self.columns, cells, strict=True)
            }
        )


class Numbers(NamedTuple):
    """Checked numbers (rows, columns) of columns that all have numbers: one array is a table at no cost."""

    names: pd.Index[str]
    cells: NDArray[np.float64]

    def to_table(self) -> pd.DataFrame:
        """Return the values under the names of the columns."""
        return pd.DataFrame(self.cells, columns=self.names, copy=False)


def _to_numbers(values: list[JSONValue]) -> object:
    return np.array(values, dtype=np.float64)


def _to_texts(values: list[JSONValue]) -> object:
    return np.array(values, dtype=object)


def _to_dates(values: list[JSONValue]) -> object:
    return pd.Series(values, dtype="datetime64[ns]")


_CONVERSIONS: dict[str, Callable[[list[JSONValue]], object]] = {
    "numbers": _to_numbers,
    "categories": _to_texts,
    "text": _to_texts,
    "dates": _to_dates,
}


def concatenate(features: Sequence[Features | Records | Numbers]) -> Features:
    """Return the rows of several requests, all of one kind, in one table, matrix or list."""
    first: Any = features[0]
    parts: Any = features
    if isinstance(first, Records):
        return Records(first.columns, [row for each in parts for row in each.rows]).to_table()
    if isinstance(first, Numbers):
        return Numbers(first.names, np.concatenate([each.cells for each in parts])).to_table()
    return first if len(parts) == 1 else _concatenate_features(parts)


def _concatenate_features(parts: Sequence[Any]) -> Features:
    if isinstance(parts[0], pd.DataFrame):
        return pd.concat(parts, ignore_index=True)
    if sparse.issparse(parts[0]):
        return sparse.csr_array(sparse.vstack(parts))
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return [text for each in parts for text in each]

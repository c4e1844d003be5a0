"""Features in the columns of a table: numbers, categories, and errors for ambiguous columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from chmcnn.datasets.raw_table import RawTable

MISSING = ("?", "NA", "N/A", "NaN", "nan", "null", "None")
"""Texts for a missing value in a feature, besides an empty cell."""
_LIKE_A_NUMBER = re.compile(
    r"[+\-\u2212]?(?:[\d.,_\s]*\d[\d.,_\s]*(?:[eE][+-]?\d+)?\s*%?|inf(?:inity)?)", re.IGNORECASE
)
_LIKE_A_CODE = re.compile(r"0\d+")
_NAMES_FROM = 100
"""A column with more different texts than that, most of them in one row only, probably has names of rows."""


def read_feature_columns(
    raw: RawTable, frame: pd.DataFrame, id_column: str | int | None, categorical: Sequence[str]
) -> pd.DataFrame:
    """Return the columns as floats and categories, with the ids as the index."""
    if isinstance(categorical, str):
        raise raw.error(f"categorical is {categorical!r}; expected a list of columns, such as [{categorical!r}]")
    for column in categorical:
        raw.require_column(column, "categorical= names it")
    ids = _find_id_column(raw, frame, id_column)
    features = frame if ids is None else frame.drop(columns=ids)
    if not features.shape[1]:
        raise raw.error("there is no column of features")
    index = pd.RangeIndex(len(frame)) if ids is None else _read_ids(raw, frame[ids], ids)
    columns = dict(_convert(raw, features, set(categorical)))
    return pd.DataFrame(
        {name: column.to_numpy() if column.dtype == np.float64 else column.array for name, column in columns.items()},
        index=index,
    )


def _find_id_column(raw: RawTable, frame: pd.DataFrame, column: str | int | None) -> str | None:
    if column is None:
        return None
    if isinstance(column, int):
        if not 0 <= column < len(raw.frame.columns):
            raise raw.error(f"id_column is {column}; expected 0 to {len(raw.frame.columns) - 1}, or a name")
        column = str(raw.frame.columns[column])
    raw.require_column(column, "id_column= names it")
    if column not in frame.columns:
        raise raw.error(f"id_column is {column!r}, but this is the column of labels")
    return column


def _read_ids(raw: RawTable, column: pd.Series, name: str) -> pd.Index:
    ids = [_text(value) for value in column]
    seen: set[str] = set()
    for row, value in enumerate(ids):
        if value is None or value in seen:
            problem = "the id is empty" if value is None else f"the id {value!r} appears twice"
            raise raw.error(f"{problem}; expected a different id in each row", row, name)
        seen.add(value)
    return pd.Index(ids, name=name)


def _text(value: object) -> str | None:
    if isinstance(value, float):
        return None if np.isnan(value) else str(int(value)) if value.is_integer() else str(value)
    return str(value).strip() if value is not None else None


def _convert(raw: RawTable, frame: pd.DataFrame, categorical: Collection[str]) -> Iterator[tuple[str, pd.Series]]:
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            yield name, column
        elif column.dtype == np.float64:
            is_category = name in categorical
            yield name, _to_categories(column.map(_text)) if is_category else _check_finite(raw, column, name)
        else:
            yield name, _convert_text(raw, column, name, categorical)


def _check_finite(raw: RawTable, column: pd.Series, name: str) -> pd.Series:
    if np.isinf(column).any():
        raise raw.error("the number is infinite", int(np.isinf(column).argmax()), name)
    return column


def _convert_text(raw: RawTable, column: pd.Series, name: str, categorical: Collection[str]) -> pd.Series:
    if name not in categorical:
        quick = pd.to_numeric(column, errors="coerce").astype(np.float64)
        if np.isfinite(quick.to_numpy()).all():  # the usual case: numbers, and none missing
            _refuse_codes(raw, column, name)
            return quick
    if not all(value is None or isinstance(value, str | float) for value in column):
        raise raw.error("a list cannot be a feature; make one column for each of its values", column=name)
    stripped = column.str.strip()
    cells = stripped.mask(stripped.isin(MISSING))
    present = cells.notna().to_numpy()
    if name in categorical:
        return _to_categories(cells)
    numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    is_number = np.isfinite(numbers.to_numpy())
    if is_number[present].all():
        _refuse_codes(raw, cells, name)
        return numbers
    if not is_number.any() and not all(_LIKE_A_NUMBER.fullmatch(value) for value in cells[present]):
        _refuse_names(raw, cells, name)
        return _to_categories(cells)
    row = int(np.flatnonzero(present & ~is_number)[0])
    raise raw.error(
        f"{cells.iloc[row]!r} is not a finite number, but the column seems numeric; if it has categories, name it in "
        "categorical=",
        row,
        name,
    )


def _to_categories(cells: pd.Series) -> pd.Series:
    return cells.where(cells.notna(), None).astype("category")


def _refuse_codes(raw: RawTable, cells: pd.Series, name: str) -> None:
    """Raise an error for numbers that start with a zero: they are codes, and would lose it."""
    for row, value in enumerate(cells):
        if isinstance(value, str) and "0" in value[:2] and _LIKE_A_CODE.fullmatch(value.strip()):
            raise raw.error(
                f"{value!r} starts with 0, like a code: name the column in categorical=, or remove the zeros",
                row,
                name,
            )


def _refuse_names(raw: RawTable, cells: pd.Series, name: str) -> None:
    unique = cells.nunique()
    if unique > _NAMES_FROM and unique > cells.count() / 2:
        raise raw.error(
            f"there are {unique:,} different texts in {len(cells):,} rows, like names of the rows; name the column "
            "with id_column= or categorical=, or drop it",
            column=name,
        )

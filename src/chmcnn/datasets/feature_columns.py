"""Columns of features: which are numbers, which are categories, and which cannot be told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from chmcnn.datasets.raw_table import RawTable

MISSING = ("?", "NA", "N/A", "NaN", "nan", "null", "None")
"""What stands for no value in a feature, besides nothing at all."""
_LIKE_A_NUMBER = re.compile(
    r"[+\-\u2212]?(?:[\d.,_\s]*\d[\d.,_\s]*(?:[eE][+-]?\d+)?\s*%?|inf(?:inity)?)", re.IGNORECASE
)
_LIKE_A_CODE = re.compile(r"0\d+")
_NAMES_FROM = 100
"""A column of text with more different values than that, most of them once, names the rows."""


def read_feature_columns(
    raw: RawTable, frame: pd.DataFrame, id_column: str | int | None, categorical: Sequence[str]
) -> pd.DataFrame:
    """The columns as floats and categories, with the ids as the names of the rows."""
    if isinstance(categorical, str):
        raise raw.error(f"categorical is {categorical!r}; expected a list of columns, such as [{categorical!r}]")
    for column in categorical:
        raw.require_column(column, "categorical names it")
    ids = _id_column(raw, frame, id_column)
    kept = frame if ids is None else frame.drop(columns=ids)
    if not kept.shape[1]:
        raise raw.error("there is no column of features")
    index = pd.RangeIndex(len(frame)) if ids is None else _ids(raw, frame[ids], ids)
    columns = dict(_columns(raw, kept, set(categorical)))
    return pd.DataFrame(
        {name: column.to_numpy() if column.dtype == np.float64 else column.array for name, column in columns.items()},
        index=index,
    )


def _id_column(raw: RawTable, frame: pd.DataFrame, wanted: str | int | None) -> str | None:
    if wanted is None:
        return None
    if isinstance(wanted, int):
        if not 0 <= wanted < len(raw.frame.columns):
            raise raw.error(f"id_column is {wanted}; there are {len(raw.frame.columns)} columns, from 0")
        wanted = str(raw.frame.columns[wanted])
    raw.require_column(wanted, "id_column names it")
    if wanted not in frame.columns:
        raise raw.error(f"id_column is {wanted!r}, which holds the labels")
    return wanted


def _ids(raw: RawTable, column: pd.Series, name: str) -> pd.Index:
    ids = [_text(value) for value in column]
    seen: set[str] = set()
    for row, value in enumerate(ids):
        if value is None or value in seen:
            problem = "there is no id" if value is None else f"{value!r} is there twice"
            raise raw.error(f"{problem}; ids name one row each", row, name)
        seen.add(value)
    return pd.Index(ids, name=name)


def _text(value: object) -> str | None:
    if isinstance(value, float):
        return None if np.isnan(value) else str(int(value)) if value.is_integer() else str(value)
    return str(value).strip() if value is not None else None


def _columns(raw: RawTable, frame: pd.DataFrame, categorical: Collection[str]) -> Iterator[tuple[str, pd.Series]]:
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            yield name, column
        elif column.dtype == np.float64:
            yield name, _numbers(raw, column, name) if name not in categorical else _categories(column.map(_text))
        else:
            yield name, _from_text(raw, column, name, categorical)


def _numbers(raw: RawTable, column: pd.Series, name: str) -> pd.Series:
    if np.isinf(column).any():
        raise raw.error("an infinite number", int(np.isinf(column).argmax()), name)
    return column


def _from_text(raw: RawTable, column: pd.Series, name: str, categorical: Collection[str]) -> pd.Series:
    if name not in categorical:
        quick = pd.to_numeric(column, errors="coerce").astype(np.float64)
        if np.isfinite(quick.to_numpy()).all():  # the usual case: numbers, and none missing
            _refuse_codes(raw, column, name)
            return quick
    if not all(value is None or isinstance(value, str | float) for value in column):
        raise raw.error("a list is no feature; make a column of each of its values", column=name)
    stripped = column.str.strip()
    cells = stripped.mask(stripped.isin(MISSING))
    given = cells.notna().to_numpy()
    if name in categorical:
        return _categories(cells)
    numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    fits = np.isfinite(numbers.to_numpy())
    if fits[given].all():
        _refuse_codes(raw, cells, name)
        return numbers
    if not fits.any() and not all(_LIKE_A_NUMBER.fullmatch(value) for value in cells[given]):
        _refuse_names(raw, cells, name)
        return _categories(cells)
    row = int(np.flatnonzero(given & ~fits)[0])
    raise raw.error(
        f"{cells.iloc[row]!r} is not a finite number, as others in the column are or seem to be; if it is a category, "
        "name the column in categorical",
        row,
        name,
    )


def _categories(cells: pd.Series) -> pd.Series:
    return cells.where(cells.notna(), None).astype("category")


def _refuse_codes(raw: RawTable, cells: pd.Series, name: str) -> None:
    """Numbers that start with a zero are codes, and would lose it."""
    for row, value in enumerate(cells):
        if isinstance(value, str) and "0" in value[:2] and _LIKE_A_CODE.fullmatch(value.strip()):
            raise raw.error(
                f"{value!r} starts with 0 as codes do, not numbers: name the column in categorical, or drop the zeros",
                row,
                name,
            )


def _refuse_names(raw: RawTable, cells: pd.Series, name: str) -> None:
    different = cells.nunique()
    if different > _NAMES_FROM and different > cells.count() / 2:
        raise raw.error(
            f"it has {different:,} different texts in {len(cells):,} rows, as a column of names has; name it with "
            "id_column, or in categorical, or drop it",
            column=name,
        )

"""Rows of a request as JSON: objects with the columns of the model, lists of numbers, texts, or sparse rows."""

from __future__ import annotations

import math
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pydantic_core import from_json
from scipy import sparse

from chmcnn.serving._columns import InputColumn, Numbers, Records
from chmcnn.serving._wrong import show, wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chmcnn._typing import Features, JSONValue

_NUMBERS = frozenset({int, float, NoneType})
"""Types of JSON values that are numbers or missing ones: true is none of them."""


class JSONReader:
    """Reads rows of one model.

    What is right is seen for all values of a request at once. Only if something may be wrong, values are looked at one
    by one, to name the first that is.
    """

    def __init__(self, columns: list[InputColumn], features: int, id_column: str | None) -> None:
        self._columns, self._features, self._id_column = columns, features, id_column
        self._are_numbers = all(column.kind == "numbers" for column in columns)
        self._names = pd.Index([column.name for column in columns], dtype=object)
        self._pick = _create_picker(list(self._names))

    def read(self, body: bytes) -> tuple[Features | Records | Numbers, list[str]]:
        """Return the features of a body, and the names of its rows."""
        rows = _parse(body)
        if not rows:
            return [], []
        if self._columns:
            return self._read_objects(rows), self._read_names(rows)
        names = [str(number) for number in range(len(rows))]
        if all(isinstance(row, str) for row in rows):
            return rows, names
        if all(isinstance(row, dict) for row in rows):
            return _read_sparse(rows, self._features), names
        return self._read_lists(rows), names

    def _read_names(self, rows: list[JSONValue]) -> list[str]:
        if self._id_column is None:
            return [str(number) for number in range(len(rows))]
        return [str(row.get(self._id_column, number)) for number, row in enumerate(rows)]

    def _read_objects(self, rows: list[JSONValue]) -> Records | Numbers:
        """Return the values of objects, whose keys are names of columns; other keys are ignored."""
        if self._are_numbers and (numbers := _take_numbers(rows, self._pick)) is not None:
            return Numbers(self._names, numbers)
        for number, row in enumerate(rows):
            if not isinstance(row, dict):
                raise wrong(f"rows[{number}] is {show(row)}; expected an object with the columns of the model")
            for column in self._columns:
                if column.name not in row:
                    raise wrong(f"rows[{number}] has no {column.name!r}; use null for a missing value")
        return Records(
            self._columns,
            [
                [_check(row[column.name], column.kind, f"rows[{number}].{column.name}") for column in self._columns]
                for number, row in enumerate(rows)
            ],
        )

    def _read_lists(self, rows: list[JSONValue]) -> NDArray[np.float64]:
        """Return rows of numbers in the order of the training."""
        for number, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != self._features:
                found = f"{len(row):,} values" if isinstance(row, list) else show(row)
                raise wrong(f"rows[{number}] is {found}; expected a list of {self._features:,} numbers")
        numbers = _take_numbers(rows, lambda row: row)
        if numbers is not None:
            return numbers
        values = [
            [_check(value, "numbers", f"rows[{number}][{place}]") for place, value in enumerate(row)]
            for number, row in enumerate(rows)
        ]
        return np.array(values, dtype=np.float64)


def _parse(body: bytes) -> list[JSONValue]:
    """Return ``rows`` of a JSON object."""
    try:
        content = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise wrong(f"The body is not JSON that can be read: {str(error)[:200]}") from None
    if not isinstance(content, dict) or not isinstance(content.get("rows"), list):
        raise wrong('The body has no list "rows"; expected {"rows": [...]}')
    rows: list[JSONValue] = content["rows"]
    return rows


def _create_picker(names: list[str]) -> Callable[[Any], Sequence[JSONValue]]:
    """Return a function that takes the values of columns out of an object."""
    if len(names) == 1:
        return lambda row: (row[names[0]],)
    return itemgetter(*names) if names else list


def _take_numbers(
    rows: list[JSONValue], pick: Callable[[JSONValue], Sequence[JSONValue]]
) -> NDArray[np.float64] | None:
    """Return numbers (rows, columns), with NaN for missing ones; None if anything may be wrong with them."""
    try:
        picked = [pick(row) for row in rows]
        values = np.array(picked, dtype=np.float64)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    are_numbers = all(_NUMBERS.issuperset(map(type, each)) for each in picked) and not np.isinf(values).any()
    return values if are_numbers else None


def _check(value: JSONValue, kind: str, place: str) -> JSONValue:
    """Return a value of the kind of its column, or None."""
    kinds = (int, float) if kind == "numbers" else (str, int) if kind == "categories" else (str,)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, kinds):
        expected = {"numbers": "a number", "categories": "a category as text"}.get(kind, "text")
        raise wrong(f"{place} is {show(value)}; expected {expected} or null")
    if kind == "dates":
        return _as_date(value, place)
    return _as_float(value, place) if kind == "numbers" else str(value)


def _as_date(value: JSONValue, place: str) -> JSONValue:
    """Return a date without a zone; one with a zone in UTC. A table keeps nanoseconds: 1677 to 2262."""
    try:
        date: Any = pd.to_datetime(value, format="ISO8601")
        date = (date.tz_convert(None) if date.tz else date).as_unit("ns")
    except (ValueError, OverflowError):
        date = pd.NaT
    if pd.isna(date):  # also a text such as "NaT"
        raise wrong(f"{place} is {show(value)}; expected a date such as 2026-12-31, from 1678 to 2261")
    return date


def _as_float(value: JSONValue, place: str) -> float:
    try:
        number = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        number = math.inf
    if not math.isfinite(number):
        raise wrong(f"{place} is {show(value)}; expected a finite number, or null for a missing one")
    return number


def _read_sparse(rows: list[JSONValue], columns: int) -> sparse.csr_array:
    """Return rows of numbers by their positions, from 0; equal positions are added up."""
    positions: list[int] = []
    values: list[float] = []
    ends = [0]
    for number, row in enumerate(rows):
        at, of = row.get("indices"), row.get("values")
        if not isinstance(at, list) or not isinstance(of, list) or len(at) != len(of):
            raise wrong(f'rows[{number}]: expected two lists of the same length, "indices" and "values"')
        for place, value in zip(at, of, strict=True):
            if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < columns:
                raise wrong(f"rows[{number}].indices has {show(place)}; expected whole numbers below {columns:,}")
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise wrong(f"rows[{number}].values has {show(value)}; expected numbers")
            positions.append(place)
            values.append(_as_float(value, f"rows[{number}].values"))
        ends.append(len(positions))
    matrix = sparse.csr_array(
        (np.array(values, dtype=np.float64), np.array(positions, dtype=np.int64), np.array(ends)), (len(rows), columns)
    )
    matrix.sum_duplicates()
    return matrix

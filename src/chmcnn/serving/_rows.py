"""Rows of a request: features as the model takes them, from JSON or CSV."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from fastapi import HTTPException
from scipy import sparse

from chmcnn._io import strict_json
from chmcnn.datasets import read_features
from chmcnn.errors import ChmcnnError, FileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from chmcnn._typing import Features, JSONValue
    from chmcnn.estimator import HierarchicalClassifier

_SHOWN = 40
"""Characters of a wrong value in a message."""


class InputColumn(NamedTuple):
    """A column that the model takes: its name and kind, and the categories that it knows."""

    name: str
    kind: str
    categories: list[str] | None = None


class Records(NamedTuple):
    """Checked values of rows, which become a table only when all rows of a batch are there."""

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


class Rows(NamedTuple):
    """Features of a request, or the values that become features, and the name of each row."""

    features: Features | Records
    names: list[str]


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


def read_rows(
    model: HierarchicalClassifier, columns: list[InputColumn], body: bytes, content_type: str, most: int
) -> Rows:
    """Return the rows of a body; errors have the status 413, 415 or 422 and name the row and the column."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/csv":
        rows = _read_csv(model, columns, body)
    elif kind in {"application/json", ""}:
        rows = _read_json(model, columns, body)
    else:
        raise HTTPException(415, f"The content type is {kind[:_SHOWN]!r}; expected application/json or text/csv.")
    if not rows.names:
        raise _wrong("rows is empty; expected at least one row")
    if len(rows.names) > most:
        raise HTTPException(413, f"The request has {len(rows.names):,} rows; expected at most {most:,} at a time.")
    return rows


def _wrong(problem: str) -> HTTPException:
    return HTTPException(422, f"{problem}.")


# CSV


def _read_csv(model: HierarchicalClassifier, columns: list[InputColumn], body: bytes) -> Rows:
    """Read a table as `chmcnn predict` does, with the columns that the model was trained on."""
    named: dict[str, list[str]] = {
        kind: [column.name for column in columns if column.kind == kind] for kind in ("categories", "text")
    }
    with TemporaryDirectory(prefix="chmcnn-serve-") as folder:
        path = Path(folder, "rows.csv")
        path.write_bytes(body)
        try:
            features = read_features(
                path,
                id_column=_find_id_column(model, body),
                categorical=named["categories"],
                text=named["text"],
                columns=[column.name for column in columns] or None,
                features=model.n_features_in_,
            )
        except FileError as error:
            raise _wrong(str(type(error)(error.problem, Path("rows.csv"), error.line, error.column))[:-1]) from None
        except ChmcnnError as error:
            raise _wrong(str(error).replace(str(path), "rows.csv").rstrip(".")) from None
    index = features.index if isinstance(features, pd.DataFrame) else range(features.shape[0])
    return Rows(features, [str(name) for name in index])


def _find_id_column(model: HierarchicalClassifier, body: bytes) -> str | None:
    """Return the column that had the names of the rows in training, if this table has it too."""
    head = body.partition(b"\n")[0].decode("utf-8-sig", errors="replace")
    return model.id_column_ if model.id_column_ in next(csv.reader([head]), []) else None


# JSON


def _read_json(model: HierarchicalClassifier, columns: list[InputColumn], body: bytes) -> Rows:
    rows = _parse(body)
    if not rows:
        return Rows([], [])
    if columns:
        return _read_objects(rows, columns, model.id_column_)
    names = [str(number) for number in range(len(rows))]
    if all(isinstance(row, str) for row in rows):
        return Rows(rows, names)
    if all(isinstance(row, dict) for row in rows):
        return Rows(_read_sparse(rows, model.n_features_in_), names)
    return Rows(_read_lists(rows, model.n_features_in_), names)


def _parse(body: bytes) -> list[JSONValue]:
    """Return ``rows`` of a JSON object."""
    try:
        content = strict_json.loads(body)
    except ValueError as error:  # also text that is not UTF-8
        raise _wrong(f"The body is not JSON that can be read: {str(error)[:200]}") from None
    if not isinstance(content, dict) or not isinstance(content.get("rows"), list):
        raise _wrong('The body has no list "rows"; expected {"rows": [...]}')
    rows: list[JSONValue] = content["rows"]
    return rows


def _read_objects(rows: list[JSONValue], columns: list[InputColumn], id_column: str | None) -> Rows:
    """Return the values of objects, whose keys are names of columns; other keys are ignored."""
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise _wrong(f"rows[{number}] is {_show(row)}; expected an object with the columns of the model")
        for column in columns:
            if column.name not in row:
                raise _wrong(f"rows[{number}] has no {column.name!r}; use null for a missing value")
    values = [[_check(row[column.name], column, number) for column in columns] for number, row in enumerate(rows)]
    names = [str(row.get(id_column, number)) for number, row in enumerate(rows)]
    return Rows(Records(columns, values), names)


def _check(value: JSONValue, column: InputColumn, row: int) -> JSONValue:
    """Return a value of the kind of its column, or None."""
    kinds = (int, float) if column.kind == "numbers" else (str, int) if column.kind == "categories" else (str,)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, kinds):
        expected = {"numbers": "a number", "categories": "a category as text"}.get(column.kind, "text")
        raise _wrong(f"rows[{row}].{column.name} is {_show(value)}; expected {expected} or null")
    if column.kind == "dates":
        return _as_date(value, f"rows[{row}].{column.name}")
    return _as_float(value, f"rows[{row}].{column.name}") if column.kind == "numbers" else str(value)


def _as_date(value: JSONValue, place: str) -> pd.Timestamp:
    try:
        return pd.to_datetime(value, format="ISO8601")
    except (ValueError, OverflowError):
        raise _wrong(f"{place} is {_show(value)}; expected a date such as 2026-12-31") from None


def _as_float(value: JSONValue, place: str) -> float:
    if not math.isfinite(value):
        raise _wrong(f"{place} is {value}; expected a finite number, or null for a missing one")
    return float(value)


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


def _read_lists(rows: list[JSONValue], columns: int) -> np.ndarray:
    """Return rows of numbers in the order of the training."""
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != columns:
            found = f"{len(row):,} values" if isinstance(row, list) else _show(row)
            raise _wrong(f"rows[{number}] is {found}; expected a list of {columns:,} numbers")
    named = [InputColumn(str(place), "numbers") for place in range(columns)]
    values = [
        [_check(value, column, number) for value, column in zip(row, named, strict=True)]
        for number, row in enumerate(rows)
    ]
    return np.array(values, dtype=np.float64)


def _read_sparse(rows: list[JSONValue], columns: int) -> sparse.csr_array:
    """Return rows of numbers by their positions, from 0; equal positions are added up."""
    positions: list[int] = []
    values: list[float] = []
    ends = [0]
    for number, row in enumerate(rows):
        at, of = row.get("indices"), row.get("values")
        if not isinstance(at, list) or not isinstance(of, list) or len(at) != len(of):
            raise _wrong(f'rows[{number}]: expected two lists of the same length, "indices" and "values"')
        for place, value in zip(at, of, strict=True):
            if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < columns:
                raise _wrong(f"rows[{number}].indices has {_show(place)}; expected whole numbers below {columns:,}")
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise _wrong(f"rows[{number}].values has {_show(value)}; expected numbers")
            positions.append(place)
            values.append(_as_float(value, f"rows[{number}].values"))
        ends.append(len(positions))
    matrix = sparse.csr_array(
        (np.array(values, dtype=np.float64), np.array(positions, dtype=np.int64), np.array(ends)), (len(rows), columns)
    )
    matrix.sum_duplicates()
    return matrix


def _show(value: JSONValue) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."

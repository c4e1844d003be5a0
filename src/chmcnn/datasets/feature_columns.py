"""Features in the columns of a table: numbers, categories, dates, text, and errors for ambiguous columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from chmcnn.datasets.columns import are_names
from chmcnn.datasets.quick_columns import MISSING, convert_to_categories, convert_to_numbers
from chmcnn.datasets.texts import TEXT, is_running_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from pandas.api.extensions import ExtensionArray

    from chmcnn.datasets.raw_table import RawTable
    from chmcnn.errors import FileError

    Cells = NDArray[np.float64] | ExtensionArray

# Possessive quantifiers (*+) never try again with fewer characters: otherwise a long cell would take hours.
_LIKE_A_NUMBER = re.compile(
    r"[+\-\u2212]?[$\u20ac\u00a3\u00a5]?(?:[.,_\s]*+\d[\d.,_\s]*+(?:[eE][+-]?\d++)?\s*[%$\u20ac\u00a3\u00a5]?|inf(?:inity)?)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_LIKE_A_DATE = re.compile(r"\d{1,4}[/.]\d{1,2}[/.]\d{1,4}(?:[T ].*)?")
_LIKE_A_CODE = re.compile(r"0\d+")
_HUGE = 1e154
_OR_TRAIN = ", or train with the column in categorical="


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """The columns whose kind the user names, instead of leaving it to their cells."""

    categorical: Sequence[str] = ()
    text: Sequence[str] = ()

    def check(self, raw: RawTable) -> None:
        """Raise an error for a column that does not exist, or that has two kinds."""
        for argument, names in (("categorical", self.categorical), ("text", self.text)):
            if isinstance(names, str):
                raise raw.error(f"{argument} is {names!r}; expected a list of columns, such as [{names!r}]")
            for column in names:
                raw.require_column(column, f"{argument}= names it")
        both = sorted({*self.categorical} & {*self.text})
        if both:
            raise raw.error("categorical= and text= both name it; use one of them", column=both[0])


def explain_to_trained(error: FileError, kinds: Mapping[str, str]) -> FileError:
    """Return an error about a cell without advice on training, for a model that has learned the kinds of columns.

    >>> from chmcnn.errors import FileError
    >>> error = FileError(f"column 'size': 'big' is not a finite number; correct it{_OR_TRAIN}")
    >>> print(explain_to_trained(error, {"size": "numbers"}))
    column 'size': 'big' is not a finite number; correct it, as the model was trained on numbers there.
    """
    kind = next((kind for name, kind in kinds.items() if f"column {name!r}: " in error.problem), None)
    if kind is None or _OR_TRAIN not in error.problem:
        return error
    problem = error.problem.replace(_OR_TRAIN, f", as the model was trained on {kind} there")
    return type(error)(problem, error.path, error.line, error.column)


def read_feature_columns(
    raw: RawTable, frame: pd.DataFrame, id_column: str | int | None, named: NamedColumns
) -> pd.DataFrame:
    """Return the columns as floats, categories, dates and text, with the ids as the index."""
    named.check(raw)
    ids = _find_id_column(raw, frame, id_column)
    features = frame if ids is None else frame.drop(columns=ids)
    if not features.shape[1]:
        raise raw.error("there is no column of features")
    index = pd.RangeIndex(len(frame)) if ids is None else _read_ids(raw, frame[ids], ids)
    return _assemble(_convert(raw, features, named), list(map(str, features.columns)), index)


def _assemble(columns: Iterator[tuple[str, Cells]], names: Sequence[str], index: pd.Index) -> pd.DataFrame:
    """Return the columns as a table, with all numbers in one array; each column is freed after its turn."""
    numbers = np.empty((len(names), len(index)))  # rows that are not written take no memory
    numeric: list[str] = []
    others: dict[str, Cells] = {}
    for name, cells in columns:
        if isinstance(cells, np.ndarray):
            numbers[len(numeric)] = cells
            numeric.append(name)
        else:
            others[name] = cells
    parts = [pd.DataFrame(others, index=index)] if others else []
    if numeric:
        parts.append(pd.DataFrame(numbers[: len(numeric)].T, index=index, columns=numeric, copy=False))
    return pd.concat(parts, axis=1)[names]


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


def _convert(raw: RawTable, frame: pd.DataFrame, named: NamedColumns) -> Iterator[tuple[str, Cells]]:
    categorical, text = frozenset(named.categorical), frozenset(named.text)
    for name, column in frame.items():
        is_category = name in categorical
        quick = None if name in text else _convert_quickly(column, is_category=is_category)
        if quick is not None:
            yield str(name), _refuse_huge(raw, quick, str(name))
            continue
        if name in text:
            converted = _convert_to_text(raw, column, str(name))
        elif isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
            converted = column
        elif column.dtype == np.float64:
            converted = _to_categories(column.map(_text)) if is_category else _check_finite(raw, column, str(name))
        else:
            converted = _convert_strings(raw, column, str(name), is_category=is_category)
        cells = converted.to_numpy() if converted.dtype == np.float64 else converted.array
        yield str(name), _refuse_huge(raw, cells, str(name))


def _refuse_huge(raw: RawTable, cells: Cells, name: str) -> Cells:
    """Return the cells of a column; refuse numbers whose square overflows, such as 1e300 for a missing one."""
    if isinstance(cells, np.ndarray):
        least, most = np.fmin.reduce(cells, initial=0), np.fmax.reduce(cells, initial=0)  # without missing ones
        if max(-least, most) > _HUGE:
            row = int((np.abs(cells) > _HUGE).argmax())
            raise raw.error(f"the number {cells[row]:g} is too large to compute with; correct it", row, name)
    return cells


def _convert_to_text(raw: RawTable, column: pd.Series, name: str) -> pd.Series:
    """Return a column that the user names as text."""
    if pd.api.types.is_numeric_dtype(column.dtype) and column.notna().any():
        raise raw.error("text= names it, but it has numbers; leave it out of text=", column=name)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object).where(column.notna(), None)
    _refuse_lists(raw, column, name)
    return column.where(column.notna(), None).astype(TEXT)


def _check_finite(raw: RawTable, column: pd.Series, name: str) -> pd.Series:
    if np.isinf(column).any():
        raise raw.error("the number is infinite", int(np.isinf(column).argmax()), name)
    return column


def _refuse_lists(raw: RawTable, column: pd.Series, name: str) -> None:
    if isinstance(column.dtype, pd.ArrowDtype):
        raise raw.error("a list cannot be a feature; make one column for each of its values", column=name)


def _convert_quickly(column: pd.Series, *, is_category: bool) -> Cells | None:
    """Return a column of text that is numbers or categories without question, otherwise None."""
    if not isinstance(column.dtype, pd.StringDtype):
        return None
    if is_category:
        return convert_to_categories(column, is_category=lambda _: True)
    numbers = convert_to_numbers(column)
    return convert_to_categories(column, is_category=_are_categories) if numbers is None else numbers


def _are_categories(names: Sequence[str]) -> bool:
    """Return whether no text is a number, and not all are dates or resemble numbers."""
    if np.isfinite(pd.to_numeric(pd.Series(names, dtype=object), errors="coerce").to_numpy(dtype=np.float64)).any():
        return False
    return not any(all(map(form.fullmatch, names)) for form in (_DATE, _LIKE_A_NUMBER, _LIKE_A_DATE))


def _convert_strings(raw: RawTable, column: pd.Series, name: str, *, is_category: bool) -> pd.Series:
    """Return a column of text as what it is; raise an error with its place for a cell that is ambiguous."""
    _refuse_lists(raw, column, name)
    column = column.astype(object)
    if not is_category:
        quick = pd.to_numeric(column, errors="coerce").astype(np.float64)
        if np.isfinite(quick.to_numpy()).all():  # the usual case: numbers, and none missing
            _refuse_codes(raw, column, name)
            return quick
    stripped = column.str.strip()
    cells = stripped.mask(stripped.isin(MISSING))
    present = cells.notna().to_numpy()
    if is_category:
        return _to_categories(cells)
    numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    is_number = np.isfinite(numbers.to_numpy())
    if is_number[present].all():
        _refuse_codes(raw, cells, name)
        return numbers
    if all(_DATE.fullmatch(value) for value in cells[present]):
        return _to_dates(raw, cells, name)
    if not is_number.any() and not all(_LIKE_A_NUMBER.fullmatch(value) for value in cells[present]):
        if is_running_text(column.dropna()):
            return column.where(column.notna(), None).astype(TEXT)
        _refuse_local_dates(raw, cells, name)
        _refuse_names(raw, cells, name)
        return _to_categories(cells)
    row = int(np.flatnonzero(present & ~is_number)[0])
    raise raw.error(
        f"{cells.iloc[row]!r} is not a finite number, but the column seems numeric; correct it{_OR_TRAIN}",
        row,
        name,
    )


def _to_categories(cells: pd.Series) -> pd.Series:
    return cells.astype("str").astype("category")


def _to_dates(raw: RawTable, cells: pd.Series, name: str) -> pd.Series:
    dates = pd.to_datetime(cells, format="ISO8601", errors="coerce", utc=True)
    wrong = np.flatnonzero(cells.notna() & dates.isna())
    if len(wrong):
        row = int(wrong[0])
        raise raw.error(f"{cells.iloc[row]!r} is not a date, but the column seems to have dates", row, name)
    return dates.dt.tz_localize(None)


def _refuse_local_dates(raw: RawTable, cells: pd.Series, name: str) -> None:
    """Raise an error for dates in which day and month may be confused."""
    present = cells.dropna()
    if all(_LIKE_A_DATE.fullmatch(value) for value in present):
        row = int(np.flatnonzero(cells.notna())[0])
        raise raw.error(
            f"{present.iloc[0]!r} seems to be a date; write dates as 2026-12-31, or name the column in categorical=",
            row,
            name,
        )


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
    if are_names(unique, cells):
        raise raw.error(
            f"there are {unique:,} different texts in {len(cells):,} rows, like names of the rows; name the column "
            "with id_column=, text= or categorical=, or drop it",
            column=name,
        )

"""The kinds of columns that a table of features may have, and the numbers that each becomes."""

from __future__ import annotations

import numbers
import re
import warnings
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from chmcnn.datasets.texts import TermCounts, TextEncoder, is_text
from chmcnn.errors import FeatureError

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

_DATE_PARTS = ("days", "month", "weekday")
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*")
_NAMES_FROM = 100
"""A column with more different texts than that, most of them in one row only, probably has names of rows."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers, as they are."""

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return 1

    def get_names(self, name: str) -> list[str]:
        """Return the names of the encoded columns."""
        return [name]

    def encode(self, column: pd.Series) -> NDArray[np.float64]:
        """Return the numbers (rows, 1), with NaN for a missing one."""
        if not (pd.api.types.is_numeric_dtype(column.dtype) or _all_numbers(column)):
            raise _other_kind(column, "numbers")
        cells = column if _is_plain(column.dtype) else column.astype(object).where(column.notna(), np.nan)
        return _refuse_infinite(np.array(cells, dtype=np.float64)[:, None], [column.name])


def encode_numbers(table: pd.DataFrame) -> NDArray[np.float64] | None:
    """Return a table of plain numbers at once; None if a column has others, which `Numbers` encodes.

    >>> encode_numbers(pd.DataFrame({"size": [1.0, 2.0], "legs": [4, 2]}))
    array([[1., 4.],
           [2., 2.]])
    """
    if not all(map(_is_plain, set(table.dtypes))):
        return None
    return _refuse_infinite(np.array(table, dtype=np.float64), table.columns)


def _is_plain(dtype: object) -> bool:
    """Return whether cells are numbers of numpy, whose missing ones are NaN."""
    return isinstance(dtype, np.dtype) and dtype.kind in "fiub"


def _refuse_infinite(values: NDArray[np.float64], names: Sequence[Hashable] | pd.Index[Any]) -> NDArray[np.float64]:
    if np.isinf(values).any():
        row, column = np.argwhere(np.isinf(values).T)[0][::-1].tolist()
        raise FeatureError(f"Column {names[column]!r} has an infinite number in row {row}.")
    return values


@dataclass(frozen=True, slots=True)
class Categories:
    """Categories, each of which becomes a column of 0 and 1."""

    names: tuple[str, ...]

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return len(self.names)

    def get_names(self, name: str) -> list[str]:
        """Return the names of the encoded columns."""
        return [f"{name}={category}" for category in self.names]

    def encode(self, column: pd.Series) -> NDArray[np.float64]:
        """Return 0 and 1 (rows, categories): all 0 for a missing or unknown category."""
        if pd.api.types.is_numeric_dtype(column.dtype) and column.notna().any():
            raise _other_kind(column, "categories")
        texts = column.astype(object).where(column.notna(), None).map(str, na_action="ignore")
        codes = pd.Index(self.names, dtype=object).get_indexer(pd.Index(texts, dtype=object))
        one_hot: NDArray[np.bool_] = codes[:, None] == np.arange(len(self.names))
        return one_hot.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Dates:
    """Dates and times, which become days since 1970, the month (1 to 12) and the weekday (Monday is 0)."""

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return len(_DATE_PARTS)

    def get_names(self, name: str) -> list[str]:
        """Return the names of the encoded columns."""
        return [f"{name}: {part}" for part in _DATE_PARTS]

    def encode(self, column: pd.Series) -> NDArray[np.float64]:
        """Return the numbers of each date (rows, 3), with NaN for a missing one."""
        if column.isna().all():
            return np.full((len(column), len(_DATE_PARTS)), np.nan)
        if _all_dates(column):
            column = pd.Series(np.array(column.where(column.notna(), None), dtype="datetime64[us]"))
        if not pd.api.types.is_datetime64_any_dtype(column.dtype):
            raise _other_kind(column, "dates")
        times = column.dt.tz_convert("UTC").dt.tz_localize(None) if column.dt.tz is not None else column
        days = (times - pd.Timestamp(0).as_unit("us")) / pd.Timedelta(1, "D").as_unit("us")  # nanoseconds end in 2262
        parts = (days, times.dt.month, times.dt.day_of_week)
        return np.column_stack([np.asarray(part, dtype=np.float64) for part in parts])


@dataclass(frozen=True, slots=True)
class Texts:
    """Running text, which becomes TF-IDF."""

    encoder: TextEncoder

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return len(self.encoder.terms)

    def get_names(self, name: str) -> list[str]:
        """Return the names of the encoded columns."""
        return [f"{name}: {term}" for term in self.encoder.terms]

    def encode(self, column: pd.Series) -> sparse.csr_array:
        """Return TF-IDF (rows, terms); a missing text has no words."""
        return self.encoder.transform(to_texts(column))


Column: TypeAlias = Numbers | Categories | Dates | Texts
KINDS: Mapping[type[Column], str] = {Numbers: "numbers", Categories: "categories", Dates: "dates", Texts: "text"}
"""The kinds of columns in words, as messages and model files have them."""


def find_kind(column: pd.Series) -> type[Column]:
    """Return the kind of a column, from its type or else from its cells."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return Categories
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or _all_dates(column):
        return Dates
    if pd.api.types.is_complex_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(column.dtype):
        raise FeatureError(f"Column {column.name!r} has type {column.dtype}; convert it to numbers or categories.")
    if pd.api.types.is_numeric_dtype(column.dtype):
        return Numbers
    if is_text(column):
        return Texts
    return Numbers if _all_numbers(column) else Categories


def learn_column(column: pd.Series) -> Column:
    """Return the encoding of a column: its categories, or its words."""
    kind = find_kind(column)
    if kind is Texts:
        counts = TermCounts()
        counts.add(to_texts(column))
        return create_texts(str(column.name), counts)
    if kind is not Categories:
        return kind()  # type: ignore[call-arg]  # what is left has no options
    categories = _list_categories(column)
    is_doubtful = are_names(len(categories), column) or (categories and all(map(_DATE.fullmatch, categories)))
    if is_doubtful and not isinstance(column.dtype, pd.CategoricalDtype):
        warnings.warn(
            f"Column {column.name!r} has {len(categories):,} different texts in {len(column):,} rows, such as "
            f"{categories[0]!r}: names of rows, or numbers or dates that were not read as such? Each becomes a "
            "feature. Convert the column, for instance by pandas.to_datetime, or drop it, "
            'or give it the type "string" if it is text, or "category".',
            UserWarning,
            stacklevel=2,
        )
    return Categories(categories)


def are_names(unique: int, column: pd.Series) -> bool:
    """Return whether a column with so many different texts seems to have names of rows."""
    return unique > _NAMES_FROM and unique > column.count() / 2


def list_kinds(table: pd.DataFrame) -> dict[str, str]:
    """Return the kind of each column, in words, by its name.

    >>> list_kinds(pd.DataFrame({"size": [1.0, 2.0], "title": ["red shoes, size nine", "a hat of blue wool"]}))
    {'size': 'numbers', 'title': 'text'}
    """
    return {str(name): KINDS[find_kind(table[name])] for name in table.columns}


def has_text(columns: Sequence[Column]) -> bool:
    """Return whether a column has text, with which the result is sparse."""
    return any(isinstance(column, Texts) for column in columns)


def list_order(columns: Sequence[Column]) -> list[int]:
    """Return the positions of columns in the order of their encoded columns: first the table, then the texts."""
    return sorted(range(len(columns)), key=lambda position: isinstance(columns[position], Texts))


def list_sources(columns: Sequence[Column]) -> NDArray[np.int64]:
    """Return the position of the column that each encoded column comes from."""
    order = list_order(columns)
    return np.repeat(order, [columns[position].width for position in order])


def list_unscaled(columns: Sequence[Column]) -> NDArray[np.int64]:
    """Return the encoded columns that have categories beside text: scaled, rare ones would outweigh words."""
    if not has_text(columns):
        return np.array([], dtype=np.int64)
    unscaled = [isinstance(column, Categories) for column in columns]
    return np.flatnonzero(np.array(unscaled)[list_sources(columns)])


def choose_scales(deviations: NDArray[np.float64], columns: Sequence[Column]) -> NDArray[np.float64]:
    """Return what encoded columns are divided by, from their deviations: 0 for a constant one, which is not scaled.

    Beside text, the numbers of a row together have a mean square of 1, as its words have: each with deviation 1, the
    hundreds of numbers of an embedding would outweigh all words. Categories stay 0 and 1.
    """
    scales = np.where(deviations > 0, deviations, 1.0)
    if has_text(columns):
        are_numbers = np.array([isinstance(column, Numbers | Dates) for column in columns])
        scaled = are_numbers[list_sources(columns)[: len(scales)]]
        scales[scaled] *= np.sqrt(max((deviations[scaled] > 0).sum(), 1))
        scales[~scaled] = 1
    return scales


def create_texts(name: str, counts: TermCounts) -> Texts:
    """Return the encoding of a column of text whose words are counted."""
    if not counts:
        cause = "names or codes, which hardly ever repeat" if counts.has_forgotten else "no word in any training row"
        raise FeatureError(f"The text in column {name!r} has {cause}; drop the column.")
    return Texts(counts.create())


def to_texts(column: pd.Series) -> list[str]:
    """Return the texts of a column, empty where they are missing."""
    if pd.api.types.is_numeric_dtype(column.dtype) and column.notna().any():
        raise _other_kind(column, "text")
    texts = ["" if missing else text for text, missing in zip(column, column.isna(), strict=True)]
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise FeatureError(f"Column {column.name!r} has text, but row {row} has {text!r}, of type {kind}; use str.")
    return texts


def _list_categories(column: pd.Series) -> tuple[str, ...]:
    """Return the declared categories of a column, or else those in its cells."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        names = tuple(str(category) for category in column.cat.categories)
        if len(set(names)) < len(names):
            raise FeatureError(f"Column {column.name!r} has two categories with the same text: {sorted(names)[:5]}.")
        return names
    values = column.dropna()
    nested = next((value for value in values if isinstance(value, list | tuple | dict | set | np.ndarray)), None)
    if nested is not None:
        raise FeatureError(
            f"Column {column.name!r} has {nested!r}, of type {type(nested).__name__}; make one column for each of its "
            "values."
        )
    return tuple(sorted({str(value) for value in values}))


def _all_numbers(column: pd.Series) -> bool:
    """Whether a column of objects has only numbers."""
    return all(isinstance(value, numbers.Real | Decimal) for value in column.dropna())


def _all_dates(column: pd.Series) -> bool:
    """Whether a column of objects has only dates without a time zone, and at least one."""
    values = column.dropna() if column.dtype == object else ()
    return len(values) > 0 and all(isinstance(each, date) and getattr(each, "tzinfo", None) is None for each in values)


def _other_kind(column: pd.Series, expected: str) -> FeatureError:
    return FeatureError(
        f"Column {column.name!r} had {expected} in fit, but now has type {column.dtype}; convert it to {expected}."
    )

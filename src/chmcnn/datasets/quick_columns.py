"""Columns of text that are numbers or categories without question, converted by Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from chmcnn.datasets.texts import FEW_TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

MISSING = ("?", "NA", "N/A", "NaN", "nan", "null", "None")
"""Texts for a missing value in a feature, besides an empty cell."""

_FIRST = 16
"""Cells that tell most columns of words from numbers."""


def to_arrow(column: pd.Series) -> Any:  # noqa: ANN401 -- pyarrow has no types
    """Return a column that has Arrow arrays as one of them."""
    array = _to_chunks(column)
    return array.combine_chunks() if hasattr(array, "combine_chunks") else array


def convert_to_numbers(column: pd.Series) -> NDArray[np.float64] | None:
    """Return a column as numbers; None if a cell may not be a number, or may be a code such as 007."""
    import pyarrow as pa
    from pyarrow import compute

    cells = _to_chunks(column)
    values = _cast(cells)
    if values is None:
        cells = compute.utf8_trim_whitespace(cells)
        missing = compute.is_in(cells, pa.array(MISSING, cells.type))
        values = _cast(compute.if_else(missing, None, cells))
    return values


def convert_to_categories(column: pd.Series, *, is_category: Callable[[Sequence[str]], bool]) -> pd.Categorical | None:
    """Return a column as categories; None if its different cells are too many, or ``is_category`` denies them."""
    encoded = to_arrow(column).dictionary_encode()
    raw = encoded.dictionary.to_pylist()
    if len(raw) > min((len(encoded) - encoded.null_count) / 3, FEW_TEXTS):
        return None
    stripped = [cell.strip() for cell in raw]
    names = sorted({*stripped}.difference(MISSING))
    if "" in names or not is_category(names):
        return None
    place = {name: position for position, name in enumerate(names)}
    places = np.array([*(place.get(cell, -1) for cell in stripped), -1])  # the last one is that of no cell
    codes = encoded.indices.fill_null(-1).to_numpy()
    return pd.Categorical.from_codes(places[codes], pd.Index(names, dtype="str"))


def _to_chunks(column: pd.Series) -> Any:  # noqa: ANN401 -- pyarrow has no types
    import pyarrow as pa

    return pa.array(column.array)


def _cast(cells: Any) -> NDArray[np.float64] | None:  # noqa: ANN401 -- pyarrow has no types
    """Return the numbers of cells, NaN for missing ones; None unless all others are finite, and none is a code."""
    import pyarrow as pa
    from pyarrow import compute

    try:
        cells.slice(0, _FIRST).cast(pa.float64())  # Arrow describes every wrong cell: that takes long for many
        values: NDArray[np.float64] = cells.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    if np.isfinite(values).sum() != len(cells) - cells.null_count:
        return None
    whole = values == np.floor(values)  # only a whole number may be a code
    if whole.any() and compute.any(compute.match_substring_regex(cells.filter(pa.array(whole)), r"^\s*0\d")).as_py():
        return None
    return values

"""The fast reader: all rows at once, if they have no quotes or braces."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from chmcnn.datasets.arff import cells
from chmcnn.datasets.arff.rows import read_labels
from chmcnn.errors import ArffError

if TYPE_CHECKING:
    from chmcnn.datasets.arff.header import Attribute, Header

_NOT_PLAIN = re.compile(r"['\"{}\\]|true|false", re.IGNORECASE)  # pandas takes the words for numbers


def read_plain(rows: list[str], head: Header) -> tuple[pd.DataFrame, tuple[frozenset[str], ...]] | None:
    """Return features and labels of lines, or None if a line is not plain."""
    rows = [row.partition("%")[0] for row in rows]
    text = "\n".join(rows)
    commas = len(head.attributes)
    if _NOT_PLAIN.search(text) or any(row.count(",") != commas for row in rows):
        return None
    attributes: list[Attribute | None] = list(head.attributes)
    attributes.insert(head.class_position, None)
    try:
        frame = _parse(text, attributes)
        labels = tuple(read_labels(cells.Cell(value, 1), head) for value in frame[head.class_position])
        columns = {
            attribute.name: _column(frame[at], attribute) for at, attribute in enumerate(attributes) if attribute
        }
    except (ArffError, ValueError):
        return None
    return pd.DataFrame(columns, index=range(len(rows))), labels


def _parse(text: str, attributes: list[Attribute | None]) -> pd.DataFrame:
    """Return numbers as floats, and everything else as stripped text."""
    numeric = [at for at, attribute in enumerate(attributes) if attribute and attribute.numeric]
    others = [at for at in range(len(attributes)) if at not in set(numeric)]
    frame: pd.DataFrame = pd.read_csv(  # type: ignore[call-overload]
        io.StringIO(text),
        header=None,
        names=list(range(len(attributes))),
        index_col=False,
        dtype=dict.fromkeys(numeric, np.float64) | dict.fromkeys(others, str),
        na_values={at: [cells.MISSING] for at in numeric},
        keep_default_na=False,
        skip_blank_lines=False,
        quoting=csv.QUOTE_NONE,
        skipinitialspace=True,
    )
    frame[others] = frame[others].apply(lambda column: column.str.strip())
    # Every NaN must be a question mark: pandas takes words such as "nan" for one.
    missing = text.count(cells.MISSING) - sum(int(frame[at].str.count(r"\?").sum()) for at in others)
    numbers = frame[numeric].to_numpy()
    if len(frame) != text.count("\n") + 1 or np.isinf(numbers).any() or np.isnan(numbers).sum() != missing:
        raise ValueError("not plain")
    return frame


def _column(values: pd.Series, attribute: Attribute) -> pd.Series | pd.Categorical:
    if attribute.categories is None:
        return values
    if not values.isin([*attribute.categories, cells.MISSING]).all():
        raise ValueError("not plain")
    return pd.Categorical(values.where(values != cells.MISSING, None), categories=attribute.categories)

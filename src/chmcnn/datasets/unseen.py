"""What rows have that no training row had: a model says nothing of it, and predicts all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn._wording import count
from chmcnn.datasets.columns import Categories

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from chmcnn.datasets.preprocessing import Preprocessor

_NAMED = 3
"""Columns that are named."""


def describe_unseen(preprocessor: Preprocessor, table: pd.DataFrame) -> str:
    """Return which columns have categories that were not learned, or no value at all; nothing without such columns.

    >>> import pandas as pd
    >>> from chmcnn.datasets import Preprocessor
    >>> table = pd.DataFrame({"kind": ["a", "b"], "size": [1.0, 2.0]})
    >>> describe_unseen(Preprocessor().fit(table), pd.DataFrame({"kind": ["a", "c"], "size": [None, None]}))
    "'size' has no value in any row. 1 of 2 rows has a category of 'kind' that no training row had, such as 'c'."
    """
    found = list(_iterate_unseen(preprocessor, table))
    more = [f"So it is with {count(len(found) - _NAMED, 'more column')}."] if len(found) > _NAMED else []
    return " ".join([*found[:_NAMED], *more])


def _iterate_unseen(preprocessor: Preprocessor, table: pd.DataFrame) -> Iterator[str]:
    names = getattr(preprocessor, "feature_names_in_", ())
    is_empty = table.isna().all()
    for name in table.columns[is_empty] if len(table) else ():
        yield f"{name!r} has no value in any row."
    for name, column in zip(names, preprocessor.columns_, strict=False):
        if isinstance(column, Categories):
            cells = table[name].dropna()
            unknown = cells[~cells.astype(str).isin(column.names)]
            if len(unknown):
                rows = f"{len(unknown):,} of {count(len(table), 'row')} {'has' if len(unknown) == 1 else 'have'}"
                example = str(unknown.iloc[0])
                yield f"{rows} a category of {name!r} that no training row had, such as {example!r}."

"""Features of a table whose cells are read already: a sparse matrix, or columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn.datasets.feature_columns import NamedColumns, read_feature_columns
from chmcnn.datasets.sparse_tables import fit_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from chmcnn._typing import Features
    from chmcnn.datasets.raw_table import RawTable

LABELS = "labels"
"""Default name of the column of labels."""


def read_raw_features(
    raw: RawTable,
    frame: pd.DataFrame,
    id_column: str | int | None,
    named: NamedColumns,
    columns: Sequence[str] | None = None,
    features: int | None = None,
) -> Features:
    """Return sparse features, or those in the columns of a frame: the columns of the table without labels."""
    if raw.matrix is None:
        return read_feature_columns(raw, _select_columns(raw, frame, columns, id_column), id_column, named)
    arguments = {"id_column": id_column, "categorical": named.categorical, "text": named.text, "columns": columns}
    for name, value in arguments.items():
        if value not in (None, (), []):
            raise raw.error(f"the features are sparse, without names of columns: {name}= does not apply")
    others = [name for name in frame.columns if name != LABELS]
    if others:
        raise raw.error("the file has sparse features; drop this column, or add it to them", column=others[0])
    return fit_width(raw, features)


def _select_columns(
    raw: RawTable, frame: pd.DataFrame, columns: Sequence[str] | None, id_column: str | int | None
) -> pd.DataFrame:
    """Return some columns of features, and that of the ids."""
    if columns is None:
        return frame
    for column in columns:
        raw.require_column(column, "the features need it")
        if column not in frame.columns:
            raise raw.error("the features need it, but it has the labels", column=column)
    ids = [] if id_column is None else [id_column if isinstance(id_column, str) else str(raw.frame.columns[id_column])]
    return frame[[*columns, *(column for column in ids if column in frame and column not in columns)]]

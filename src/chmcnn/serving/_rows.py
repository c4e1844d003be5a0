"""Rows of a request: features as the model takes them, from JSON or CSV."""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
from fastapi import HTTPException

from chmcnn.datasets import read_features
from chmcnn.datasets.feature_columns import explain_to_trained
from chmcnn.errors import ChmcnnError, FileError
from chmcnn.serving._columns import list_columns
from chmcnn.serving._json_rows import JSONReader
from chmcnn.serving._wrong import SHOWN, wrong

if TYPE_CHECKING:
    from chmcnn._typing import Features
    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.serving._columns import Numbers, Records


class Rows(NamedTuple):
    """Features of a request, or the values that become features, and the name of each row."""

    features: Features | Records | Numbers
    names: list[str]


class RowReader:
    """Reads rows of one model; errors have the status 413, 415 or 422 and name the row and the column."""

    def __init__(self, model: HierarchicalClassifier, most: int) -> None:
        self.columns = list_columns(model)
        self._model, self._most = model, most
        self._json = JSONReader(self.columns, model.n_features_in_, model.id_column_)

    def read(self, body: bytes, content_type: str) -> Rows:
        """Return the rows of a body."""
        kind = content_type.partition(";")[0].strip().lower()
        if kind == "text/csv":
            rows = self._read_csv(body)
        elif kind in {"application/json", ""}:
            rows = Rows(*self._json.read(body))
        else:
            raise HTTPException(415, f"The content type is {kind[:SHOWN]!r}; expected application/json or text/csv.")
        if not rows.names:
            raise wrong("rows is empty; expected at least one row")
        if len(rows.names) > self._most:
            raise HTTPException(
                413, f"The request has {len(rows.names):,} rows; expected at most {self._most:,} at a time."
            )
        return rows

    def _read_csv(self, body: bytes) -> Rows:
        """Read a table as `chmcnn predict` does, with the columns that the model was trained on."""
        named: dict[str, list[str]] = {
            kind: [column.name for column in self.columns if column.kind == kind] for kind in ("categories", "text")
        }
        with TemporaryDirectory(prefix="chmcnn-serve-") as folder:
            path = Path(folder, "rows.csv")
            path.write_bytes(body)
            try:
                features = read_features(
                    path,
                    id_column=self._find_id_column(body),
                    categorical=named["categories"],
                    text=named["text"],
                    columns=[column.name for column in self.columns] or None,
                    features=self._model.n_features_in_,
                )
            except FileError as problem:
                error = explain_to_trained(problem, {column.name: column.kind for column in self.columns})
                raise wrong(str(type(error)(error.problem, Path("rows.csv"), error.line, error.column))[:-1]) from None
            except ChmcnnError as error:
                raise wrong(str(error).replace(str(path), "rows.csv").rstrip(".")) from None
        index = features.index if isinstance(features, pd.DataFrame) else range(features.shape[0])
        return Rows(features, [str(name) for name in index])

    def _find_id_column(self, body: bytes) -> str | None:
        """Return the column that had the names of the rows in training, if this table has it too."""
        name = self._model.id_column_
        if name is None:
            return None
        head = body.partition(b"\n")[0].decode("utf-8-sig", errors="replace")
        try:
            return name if name in next(csv.reader([head]), []) else None
        except csv.Error:  # whoever reads the rows says what is wrong
            return None

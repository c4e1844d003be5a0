"""The slow reader: rows of any form, cell by cell; errors name the line and column."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from chmcnn import _wording
from chmcnn.datasets.arff import cells
from chmcnn.errors import ArffError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from chmcnn.datasets.arff.cells import Cell
    from chmcnn.datasets.arff.header import Attribute, Header

_NUMBER = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_cells(
    rows: Iterable[tuple[int, str]], head: Header, path: Path
) -> tuple[pd.DataFrame, tuple[frozenset[str], ...]]:
    """Return features and labels of numbered lines."""
    columns: list[list[object]] = [[] for _ in head.attributes]
    labels = []
    for number, line in rows:
        try:
            row = _split_sparse(line, head) if line.lstrip().startswith("{") else _split_dense(line, head)
            labels.append(read_labels(row.pop(head.class_position), head))
            for column, cell, attribute in zip(columns, row, head.attributes, strict=True):
                column.append(_parse_value(cell, attribute))
        except ArffError as error:
            raise error.at(path, number) from None
    table = {
        attribute.name: pd.Series(column, dtype=np.float64)
        if attribute.numeric
        else pd.Categorical(column, categories=attribute.categories)
        for attribute, column in zip(head.attributes, columns, strict=True)
    }
    return pd.DataFrame(table, index=range(len(labels))), tuple(labels)


def _split_dense(line: str, head: Header) -> list[Cell]:
    row = list(cells.split_row(line.rstrip()))
    expected = len(head.attributes) + 1
    if len(row) != expected:
        raise ArffError(
            f"the row has {_wording.count(len(row), 'cell')}, but the header has {expected} attributes",
            column=row[min(len(row), expected) - 1].column,
        )
    return row


def _split_sparse(line: str, head: Header) -> list[Cell]:
    """Return a sparse row; an omitted value is zero, or the first value of a nominal attribute."""
    present: dict[int, Cell] = {}
    for position, cell in cells.split_sparse(line.rstrip()):
        if position > len(head.attributes) or position in present:
            raise ArffError(f"position {position} appears twice, or has no attribute", column=cell.column)
        present[position] = cell
    if head.class_position not in present:
        raise ArffError(f"the row has no {head.class_name!r}; write ? for unknown classes", column=1)
    defaults = [
        cells.Cell("0" if attribute.numeric else (attribute.categories or ("",))[0], 1, quoted=True)
        for attribute in head.attributes
    ]
    defaults.insert(head.class_position, present[head.class_position])
    return [present.get(position, default) for position, default in enumerate(defaults)]


def _parse_value(cell: Cell, attribute: Attribute) -> object:
    if cell.missing:
        return math.nan if attribute.numeric else None
    if attribute.categories is None:
        if not _NUMBER.fullmatch(cell.text) or math.isinf(float(cell.text)):
            raise ArffError(f"{cell.text!r} in {attribute.name!r} is not a finite number", column=cell.column)
        return float(cell.text)
    if cell.text not in attribute.categories:
        near = _wording.nearest(cell.text, attribute.categories)
        hint = f"did you mean {near!r}?" if near else f"expected one of {', '.join(attribute.categories[:12])}"
        raise ArffError(f"{cell.text!r} is not a value of {attribute.name!r}; {hint}", column=cell.column)
    return cell.text


def read_labels(cell: Cell, head: Header) -> frozenset[str]:
    """Return the labels, which are separated by @; raise an error for one that is not in the hierarchy."""
    if cell.missing:
        return frozenset()
    names = cell.text.split("@")
    for name in names:
        if name not in head.hierarchy:
            raise ArffError(_wording.describe_unknown(name, head.hierarchy.classes).rstrip("."), column=cell.column)
    return frozenset(names)

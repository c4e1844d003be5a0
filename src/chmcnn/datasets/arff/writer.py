"""Writing files that `read` reads back unchanged."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from chmcnn._io.files import atomic
from chmcnn.datasets.arff import cells
from chmcnn.datasets.arff.header import ROOT, parse_classes
from chmcnn.errors import ArffError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chmcnn.datasets.arff.reader import Arff


def write(path: str | Path, arff: Arff) -> None:
    """Write a hierarchical ARFF file; the class attribute comes last."""
    text = "\n".join([*_header(arff), *_rows(arff), ""])
    with atomic(Path(path)) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _header(arff: Arff) -> Iterator[str]:
    yield f"@RELATION {cells.quote(arff.relation)}"
    for name, column in arff.features.items():
        kind = "numeric"
        if isinstance(column.dtype, pd.CategoricalDtype):
            values = [str(value) for value in column.cat.categories]
            if not all(isinstance(value, str) and value for value in column.cat.categories):
                raise ArffError(f"the categories {values} of {name!r} include an empty one, or one that is not text")
            kind = f"{{{','.join(cells.quote(value) for value in values)}}}"
        elif not pd.api.types.is_numeric_dtype(column.dtype):
            raise ArffError(f"column {name!r} has type {column.dtype}; convert it to categories")
        yield f"@ATTRIBUTE {cells.quote(str(name))} {kind}"
    entries = list(_entries(arff))
    if parse_classes(entries) != (arff.hierarchy, arff.is_tree):
        raise ArffError(
            "ARFF cannot represent this hierarchy; expected a tree of paths below a class 'root', or a DAG whose names "
            "have no '/' and whose only root is 'root'"
        )
    yield f"@ATTRIBUTE {cells.quote(arff.class_name)} hierarchical {','.join(entries)}"
    yield "@DATA"


def _entries(arff: Arff) -> Iterator[str]:
    classes = arff.hierarchy.classes
    for name in classes:
        if any(character in name for character in ",@\n\r'\"") or name != name.strip():
            raise ArffError(f"class {name!r} cannot be written: it has a comma, a quote, an @ or outer white space")
    if arff.is_tree:
        yield from (name for name in classes if name != ROOT)
    else:
        yield from (f"{classes[parent]}/{classes[child]}" for parent, child in arff.hierarchy.edges.tolist())


def _rows(arff: Arff) -> Iterator[str]:
    if len(arff.labels) != len(arff.features):
        raise ArffError(f"there are {len(arff.features)} rows of features, but {len(arff.labels)} of labels")
    for name in set().union(*arff.labels):
        arff.hierarchy.index(name)
    columns = [
        [
            "?" if pd.isna(value) else cells.quote(value) if isinstance(value, str) else _number(value, name)
            for value in column
        ]
        for name, column in arff.features.items()
    ]
    labels = [cells.quote("@".join(sorted(names))) if names else "?" for names in arff.labels]
    return (",".join(row) for row in zip(*columns, labels, strict=True))


def _number(value: object, name: object) -> str:
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        raise ArffError(f"{number} in {name!r} cannot be written: ARFF supports only finite numbers")
    return repr(number)

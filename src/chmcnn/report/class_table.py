"""All classes of a model with their figures, compressed in a page, for a table that a script fills."""

from __future__ import annotations

import gzip
import json
import math
from base64 import b64encode
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chmcnn.evaluation import Evaluation
    from chmcnn.hierarchy import Hierarchy

_AT_MOST = 100_000
_FIGURES = ("auprc", "precision", "recall", "f")


def list_classes(
    hierarchy: Hierarchy, sizes: NDArray[np.int64], counted: str, evaluation: Evaluation | None
) -> dict[str, list[object]]:
    """Return the header and the rows of the table, the classes with most rows first.

    ``sizes`` are the rows of each class, and ``counted`` says which rows these are.
    """
    titles = hierarchy.titles
    header = ["class", *(["title"] if titles else []), "level", counted]
    if evaluation:
        header += [name for name in ("test rows",) if name != counted] + ["AU(PRC)", "precision", "recall", "F1"]
    rows: list[object] = []
    for at in (-sizes).argsort(kind="stable")[:_AT_MOST].tolist():
        name = hierarchy.classes[at]
        row: list[object] = [name, *([titles.get(name, "")] if titles else [])]
        row += [int(hierarchy.depths[at]), int(sizes[at])]
        if evaluation:
            figures = evaluation.by_class.get(name)
            row += [] if counted == "test rows" else [figures.rows if figures else 0]
            row += [_round(getattr(figures, each)) if figures else None for each in _FIGURES]
        rows.append(row)
    return {"header": list(header), "rows": rows}


def compress(table: dict[str, list[object]]) -> str:
    """Return a table as compressed JSON in base64, the same text for the same table."""
    text = json.dumps(table, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _round(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 3)

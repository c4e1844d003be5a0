"""Reading: all rows at once if they are plain, otherwise cell by cell.

The fast reader leaves everything unusual to the slow one, which reads it or raises an error with its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn import _wording
from chmcnn.datasets.arff import header
from chmcnn.datasets.arff.plain import read_plain
from chmcnn.datasets.arff.rows import read_cells
from chmcnn.errors import ArffError

if TYPE_CHECKING:
    import pandas as pd

    from chmcnn.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Arff:
    """A hierarchical ARFF file.

    ``features`` has a float column for each numeric attribute and a categorical one for each nominal attribute, NaN
    for a missing value. ``labels`` are those in the file, without their ancestors; ``hierarchy.encode`` adds them.
    """

    relation: str
    features: pd.DataFrame
    labels: tuple[frozenset[str], ...]
    hierarchy: Hierarchy
    is_tree: bool
    class_name: str = "class"

    def __repr__(self) -> str:
        """Show the size."""
        counts = (
            _wording.count(len(self.features), "row"),
            _wording.count(self.features.shape[1], "feature"),
            _wording.count(len(self.hierarchy), "class"),
        )
        return f"Arff({', '.join(counts)})"


def read(path: str | Path) -> Arff:
    """Read a hierarchical ARFF file, of a tree or a DAG, dense or sparse.

    Any other file raises an `ArffError` with the file, the line and the column.
    """
    file = Path(path)
    lines = [line.removesuffix("\r") for line in header.read_text(file).split("\n")]
    head = header.parse(lines, file)
    rows = [
        (number, line)
        for number, line in enumerate(lines[head.lines :], start=head.lines + 1)
        if line.strip() and not line.lstrip().startswith("%")
    ]
    if not rows:
        raise ArffError("there are no rows after @DATA", file, len(lines), 1)
    features, labels = read_plain([line for _, line in rows], head) or read_cells(rows, head, file)
    return Arff(head.relation, features, labels, head.hierarchy, head.is_tree, head.class_name)

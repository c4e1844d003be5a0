"""Files of the CAFA challenges beside the annotations: information accretion of terms, and what was known before."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    from chmcnn.hierarchy import Hierarchy


def read_information(path: str | Path, hierarchy: Hierarchy, *, missing: float | None = None) -> NDArray[np.float64]:
    r"""Read the information accretion of the classes, for CAFA's weighted Fmax and Smin.

    Parameters
    ----------
    path
        A file with a class and a number on each line, with a tab or spaces between them, plain or gzip-compressed.
        Classes that the hierarchy does not have are skipped.
    hierarchy
        The classes.
    missing
        Value of classes that are not in the file; by default they are an error. With 0, they do not count.

    Examples
    --------
    >>> import tempfile
    >>> from chmcnn import Hierarchy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "IA.tsv")
    ...     _ = path.write_text("GO:1\t0.0\nGO:2\t3.5\nGO:9\t1.0\n")
    ...     read_information(path, Hierarchy.from_edges([("GO:1", "GO:2")]))
    array([0. , 3.5])
    """
    path = Path(path)
    values = np.full(len(hierarchy), math.nan)
    for number, (name, cell) in _iterate_cells(path, "a class and a number, such as GO:0008150 and 0.0"):
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value >= 0):
            raise TableError(f"the information of {name!r} is {cell!r}; expected a number from 0", path, number)
        if name in hierarchy:
            values[hierarchy.index(name)] = value
    if np.isnan(values).all():
        raise TableError(f"the file has none of the {_wording.count(len(values), 'class')} of the hierarchy", path)
    absent = np.flatnonzero(np.isnan(values))
    if len(absent) and missing is None:
        others = f" and {_wording.count(len(absent) - 1, 'other class')}" if len(absent) > 1 else ""
        raise TableError(
            f"the file has no value for {hierarchy.classes[absent[0]]!r}{others}; add them, or pass missing=0 to leave "
            "them out of the measure",
            path,
        )
    values[absent] = missing or 0.0
    return values


def read_known(path: str | Path, ids: Sequence[str], hierarchy: Hierarchy) -> sparse.csr_array:
    r"""Read the annotations that were known before, for measures of new ones only.

    Parameters
    ----------
    path
        A file with the id of a row and a class on each line, with a tab or spaces between them; further columns are
        skipped, and so are rows and classes that do not occur here.
    ids
        Ids of the rows, in order.
    hierarchy
        The classes.

    Returns
    -------
    A 0/1 matrix (rows, classes) with all ancestors, for the argument ``known`` of `chmcnn.metrics.fmax`.

    Examples
    --------
    >>> import tempfile
    >>> from chmcnn import Hierarchy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "known.tsv")
    ...     _ = path.write_text("P1\tb\nP3\ta\n")
    ...     read_known(path, ["P1", "P2"], Hierarchy.from_edges([("a", "b")])).toarray().astype(int)
    array([[1, 1],
           [0, 0]])
    """
    path = Path(path)
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(ids):
        rows.setdefault(str(name), []).append(row)
    label_sets: list[set[str]] = [set() for _ in ids]
    found = 0
    for _, (name, label) in _iterate_cells(path, "the id of a row and a class"):
        for row in rows.get(name, ()):
            found += 1
            if label in hierarchy:
                label_sets[row].add(label)
    if not found:
        example = f", such as {str(ids[0])!r}" if len(ids) else ""
        raise TableError(f"the file has none of the {_wording.count(len(ids), 'row')}{example}", path)
    return hierarchy.encode_sparse(label_sets)


def _iterate_cells(path: Path, expected: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield the first two cells of each line with its number; skip blank lines and comments."""
    for number, line in enumerate(text.lines(path, TableError), start=1):
        cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()
        if not any(cells) or line.startswith(("#", "!")):
            continue
        if len(cells) < 2 or not all(cells[:2]):
            raise TableError(f"the line is {line.strip()!r}; expected {expected}", path, number)
        yield number, (cells[0], cells[1])

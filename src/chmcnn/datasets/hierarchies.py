"""A hierarchy from a file of any kind that is known."""

from __future__ import annotations

from pathlib import Path

from chmcnn._io import text
from chmcnn.datasets import arff, delimited, obo
from chmcnn.errors import FileError, HierarchyError
from chmcnn.hierarchy import Hierarchy


def read_hierarchy(
    path: str | Path, *, part_of: bool = False, parent: str = "parent", child: str = "child"
) -> Hierarchy:
    """Read a hierarchy; the file's ending says what it is, with ``.gz`` behind it or not.

    Parameters
    ----------
    path
        ``.csv`` or ``.tsv``: edges, in two columns. ``.json``: what `Hierarchy.to_json` wrote. ``.obo``: an ontology.
        ``.arff``: a hierarchical ARFF file.
    part_of
        Of an ontology, whether parts are below their wholes too.
    parent, child
        Of a table of edges, the names of the two columns.
    """
    file = Path(path).expanduser()
    kind = text.ending(file)
    if not file.is_file():
        raise FileError("the file of the hierarchy is not there", file)
    if kind == ".obo":
        return obo.read(file, part_of=part_of).hierarchy
    if kind == ".arff":
        return arff.read_hierarchy(file)
    try:
        if kind in delimited.DELIMITERS:
            return Hierarchy.from_csv(file, parent=parent, child=child, delimiter=delimited.DELIMITERS[kind])
        if kind == ".json":
            return Hierarchy.from_json("".join(text.lines(file)))
    except HierarchyError as error:
        raise FileError(str(error).removeprefix(f"{file}, "), file) from None
    raise FileError(f"the ending {kind!r} is not known; expected .csv, .tsv, .json, .obo or .arff", file)

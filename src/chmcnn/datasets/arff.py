"""Hierarchical ARFF: so far the hierarchy, which the header declares."""

from __future__ import annotations

import re
from pathlib import Path

from chmcnn.errors import ChmcnnError
from chmcnn.hierarchy import Hierarchy

ROOT = "root"
"""The class above all others, in a tree added to the classes that the file names."""

_CLASS_ATTRIBUTE = re.compile(r"\s*@attribute\s+(?:'[^']*'|\"[^\"]*\"|\S+)\s+hierarchical\s+(\S.*)", re.IGNORECASE)
_DATA = re.compile(r"\s*@data\b", re.IGNORECASE)


def read_hierarchy(path: str | Path) -> Hierarchy:
    """Read the hierarchy from the header of a hierarchical ARFF file.

    The class attribute lists either paths of a tree, such as ``01,01/04,01/04/02``, or the edges of a DAG, such as
    ``root/GO0003674,GO0003674/GO0003774``, where ``root`` is the first parent.
    """
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            if found := _CLASS_ATTRIBUTE.fullmatch(line.rstrip()):
                return _from_entries([entry.strip() for entry in found[1].split(",")])
            if _DATA.match(line):
                break
    raise ChmcnnError(
        f"{path} has no hierarchical attribute before @data; expected '@ATTRIBUTE class hierarchical ...'."
    )


def _from_entries(entries: list[str]) -> Hierarchy:
    pairs = [tuple(entry.split("/")) for entry in entries]
    if all(len(pair) == 2 for pair in pairs) and any(pair[0] == ROOT for pair in pairs):
        return Hierarchy.from_edges((pair[0], pair[1]) for pair in pairs)
    tree = Hierarchy.from_paths(entries)
    edges = [(tree.classes[parent], tree.classes[child]) for parent, child in tree.edges.tolist()]
    return Hierarchy.from_edges([*edges, *((ROOT, top) for top in tree.roots)])

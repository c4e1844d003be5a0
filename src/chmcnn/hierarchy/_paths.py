"""Classes that are paths: the parent of ``"01/04"`` is ``"01"``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn.errors import HierarchyError

if TYPE_CHECKING:
    from collections.abc import Iterable


def parse(paths: Iterable[str], separator: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the edges and the classes, sorted: all paths, and all that they begin with."""
    if isinstance(paths, str) or not separator:
        raise HierarchyError(
            f"Paths are {paths!r} and the separator is {separator!r}; expected a list of paths and a separator."
        )
    parents: dict[str, str] = {}
    for path in paths:
        if not isinstance(path, str) or not all(part.strip() for part in path.split(separator)):
            raise HierarchyError(f"Path {path!r} is not a string of non-empty parts separated by {separator!r}.")
        child = path
        while child and child not in parents:
            parents[child] = child.rpartition(separator)[0]
            child = parents[child]
    return [(parent, child) for child, parent in parents.items() if parent], sorted(parents)

"""Class names: checking them, finding one, and naming the nearest one in an error."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from chmcnn.errors import HierarchyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COMPARED_AT_MOST = 20_000
"""How many names an unknown one is compared with: more would keep the user waiting for the error."""


def positions(names: Sequence[str]) -> dict[str, int]:
    """Position of each name, once all are known to be different and not empty."""
    if not names:
        raise HierarchyError("The hierarchy is empty; expected at least one class.")
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise HierarchyError(
                f"Class {position} is {name!r}, of type {type(name).__name__}; names are strings: use str(...)."
            )
        if not name.strip():
            raise HierarchyError(f"Class {position} has the empty name {name!r}.")
    found = {name: position for position, name in enumerate(names)}
    if len(found) < len(names):
        second, name = next((at, name) for at, name in enumerate(names) if found[name] != at)
        raise HierarchyError(f"Class {name!r} is there twice, at positions {second} and {found[name]}.")
    return found


def in_order(names: Iterable[str]) -> list[str]:
    """Sort different names; what is no name is kept for `positions` to refuse."""
    different = set(names)
    try:
        return sorted(different)
    except TypeError:
        return sorted(different, key=lambda name: (isinstance(name, str), str(name)))


def unknown(name: object, names: Sequence[str]) -> str:
    """Say that there is no such class, and which one might have been meant."""
    message = f"Unknown class {name!r}."
    if not isinstance(name, str):
        return f"{message} Names are strings, however this is of type {type(name).__name__}."
    near = nearest(name, names)
    return f"{message} Did you mean {near!r}?" if near else message


def nearest(name: str, names: Sequence[str]) -> str | None:
    """Return the name most like ``name``, if any is like it at all."""
    candidates = names
    if len(candidates) > _COMPARED_AT_MOST:
        candidates = [other for other in names if other[:1].lower() == name[:1].lower()][:_COMPARED_AT_MOST]
    lowered = {other.lower(): other for other in candidates}
    found = difflib.get_close_matches(name.lower(), lowered, n=1)
    return lowered[found[0]] if found else None


def count(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> count(1, "class"), count(2, "class"), count(1_000, "edge")
    ('1 class', '2 classes', '1,000 edges')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def wrong_shape(what: str, shape: tuple[int, ...], classes: int) -> str:
    """Say that a matrix does not fit the hierarchy."""
    return (
        f"{what} have shape {tuple(shape)}, but the hierarchy has {count(classes, 'class')}; "
        f"expected (rows, {classes}), one column for each of hierarchy.classes."
    )

"""Titles of classes: readable names beside the names that labels use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from chmcnn import _wording
from chmcnn.errors import HierarchyError

if TYPE_CHECKING:
    from collections.abc import Collection

NONE: Mapping[str, str] = MappingProxyType({})
"""No titles."""
_CONTROL = re.compile(rf"[\s\ud800-\udfff{_wording.CONTROL}]+")
"""Spaces, line ends, halves of characters, and characters that would control a terminal."""


def as_titles(titles: Mapping[str, str] | None, positions: Mapping[str, int]) -> Mapping[str, str]:
    """Check titles by class, and return them on one line each, in column order; an empty title is none."""
    if titles is not None and not isinstance(titles, Mapping):
        raise HierarchyError(
            f"Titles are of type {type(titles).__name__}; expected a mapping from classes to their titles."
        )
    if not titles:
        return NONE
    for name, title in titles.items():
        if name not in positions:
            raise HierarchyError(f"{_wording.describe_unknown(name, tuple(positions))} It is in the titles: remove it.")
        if not isinstance(title, str):
            raise HierarchyError(
                f"The title of class {name!r} is {title!r}, of type {type(title).__name__}; expected text."
            )
    lines = {name: _CONTROL.sub(" ", titles[name]).strip() for name in positions if name in titles}
    return MappingProxyType({name: title for name, title in lines.items() if title})


def find_columns(header: list[str], title: str | None, used: Collection[str]) -> list[int]:
    """Return the column of titles: the one that the user names, or ``title`` or ``name`` if there is one."""
    if title is None:
        candidates = [name for name in ("title", "name") if header.count(name) == 1 and name not in used]
        return [header.index(name) for name in candidates[:1]]
    if header.count(title) != 1:
        raise HierarchyError(f"Expected one column {title!r} of titles, but the columns are {header}.")
    return [header.index(title)]


def collect(titles: dict[str, str], name: str, title: str) -> None:
    """Add the title of a class; raise an error if it has another one already."""
    if title and titles.setdefault(name, title) != title:
        raise HierarchyError(f"Class {name!r} has two titles, {titles[name]!r} and {title!r}; remove one of them.")

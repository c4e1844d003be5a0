"""The benchmark's 20 data sets: names, files and sizes, which need none of the files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from chmcnn import _wording
from chmcnn.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping


EMBEDDED = "digits"
"""The data set inside the package."""

ROOTS = frozenset(
    {"root", *(f"GO{mark}{number}" for mark in ("", ":") for number in ("0003674", "0005575", "0008150"))}
)
"""Classes of (nearly) every row of the benchmark: they are in its hierarchies, but by convention in no measure."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the authors' repository; ``bytes`` and ``rows`` are None for one that could not be measured."""

    path: str
    blob: str  # its git blob id, a hash of its content
    bytes: int | None
    rows: int | None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Entry:
    """A data set: its files by part, and its size. ``classes`` counts all nodes, ``evaluated`` those without roots."""

    name: str
    features: int
    classes: int
    evaluated: int
    edges: int
    depth: int
    files: Mapping[str, File]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All data sets of the benchmark, and the repository of their files."""

    repository: str
    commit: str
    entries: Mapping[str, Entry]

    def __getitem__(self, name: str) -> Entry:
        """Return a data set by name."""
        if name not in self.entries:
            near = _wording.nearest(name, names())
            hint = f" Did you mean {near!r}?" if near else ""
            raise DatasetError(f"There is no data set {name!r}.{hint} The data sets are {', '.join(names())}.")
        return self.entries[name]


@cache
def catalogue() -> Catalogue:
    """Return the catalogue in the package, written by ``python -m benchmarks.catalogue``."""
    content = json.loads(resources.files("chmcnn.datasets").joinpath("catalogue.json").read_text(encoding="utf-8"))
    entries = {
        name: Entry(name=name, **{**entry, "files": {part: File(**file) for part, file in entry["files"].items()}})
        for name, entry in content["datasets"].items()
    }
    return Catalogue(content["repository"], content["commit"], entries)


def names() -> tuple[str, ...]:
    """Return the names of all data sets.

    >>> names()[:3]
    ('digits', 'cellcycle_FUN', 'derisi_FUN')
    """
    return (EMBEDDED, *catalogue().entries)

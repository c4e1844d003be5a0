"""The benchmark's 20 data sets: what there is, as measured from the files, without any of the files."""

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


@dataclass(frozen=True, slots=True)
class File:
    """A file of the authors' repository; ``bytes`` and ``rows`` are None for one that could not be measured."""

    path: str
    blob: str  # its id in git, which says what is in it
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
    """All of them, and where their files come from."""

    repository: str
    commit: str
    entries: Mapping[str, Entry]

    def __getitem__(self, name: str) -> Entry:
        """Look up one by name."""
        if name not in self.entries:
            known = names()
            near = _wording.nearest(name, known)
            hint = f" Did you mean {near!r}?" if near else ""
            raise DatasetError(f"There is no data set {name!r}.{hint} There are: {', '.join(known)}.")
        return self.entries[name]


@cache
def catalogue() -> Catalogue:
    """Read the catalogue that comes with the package; ``python -m benchmarks.catalogue`` wrote it."""
    content = json.loads(resources.files("chmcnn.datasets").joinpath("catalogue.json").read_text(encoding="utf-8"))
    entries = {
        name: Entry(name=name, **{**entry, "files": {part: File(**file) for part, file in entry["files"].items()}})
        for name, entry in content["datasets"].items()
    }
    return Catalogue(content["repository"], content["commit"], entries)


def names() -> tuple[str, ...]:
    """Names of all data sets.

    >>> names()[:3]
    ('digits', 'cellcycle_FUN', 'derisi_FUN')
    """
    return (EMBEDDED, *catalogue().entries)

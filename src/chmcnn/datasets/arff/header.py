"""The header of a hierarchical ARFF file: attributes, and the hierarchy that the class attribute declares."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from chmcnn._io.text import lines
from chmcnn.datasets.arff import cells
from chmcnn.errors import ArffError, HierarchyError
from chmcnn.hierarchy import Hierarchy

ROOT = "root"
"""The class above all others; where a tree does not name it, it is added."""

_NUMERIC = {"numeric", "real", "integer"}
_KEYWORD = re.compile(r"[ \t]*+@(?P<word>\w++)[ \t]*+(?P<rest>.*)")
_NAME = re.compile(r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|[^\s'"{}]++)""")


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: numeric, or nominal with the values it may have."""

    name: str
    categories: tuple[str, ...] | None = None

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.categories is None


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before ``@DATA``."""

    relation: str
    attributes: tuple[Attribute, ...]  # without the class attribute
    class_name: str
    class_position: int  # among all attributes
    hierarchy: Hierarchy
    is_tree: bool  # classes are paths; otherwise the file lists edges
    lines: int  # up to and with @DATA


def read_hierarchy(path: str | Path) -> Hierarchy:
    """Read the hierarchy from the header of a hierarchical ARFF file."""
    return parse(read_text(Path(path)).split("\n"), Path(path)).hierarchy


def read_text(path: Path) -> str:
    """Read a file that must be text in UTF-8."""
    return "".join(lines(path, ArffError))


def parse(given: list[str], path: Path) -> Header:
    """Read the lines up to ``@DATA``."""
    builder = _Builder()
    for number, line in enumerate(given, start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("%"):
            continue
        try:
            if builder.take(line.rstrip()):
                return builder.finish(number)
        except ArffError as error:
            raise error.at(path, number) from None
    raise ArffError("there is no @DATA; expected a hierarchical ARFF file", path, len(given), 1)


class _Builder:
    """A header that is being read."""

    def __init__(self) -> None:
        self.relation = ""
        self.attributes: list[Attribute] = []
        self.names: set[str] = set()
        self.of_class: tuple[str, int, Hierarchy, bool] | None = None

    def take(self, line: str) -> bool:
        """Take one line; say whether the header ends with it."""
        found = _KEYWORD.fullmatch(line)
        word = found["word"].lower() if found else ""
        if found and word == "relation":
            self.relation = next(cells.split(line, found.start("rest"))).text
        elif found and word == "attribute":
            self._attribute(line, found.start("rest"))
        elif not found or word != "data":
            raise ArffError(f"expected @RELATION, @ATTRIBUTE or @DATA, however: {line.strip()[:40]!r}", column=1)
        return word == "data"

    def finish(self, number: int) -> Header:
        if self.of_class is None:
            raise ArffError("no attribute is hierarchical; expected '@ATTRIBUTE class hierarchical ...'", column=1)
        name, position, hierarchy, is_tree = self.of_class
        return Header(self.relation, tuple(self.attributes), name, position, hierarchy, is_tree, number)

    def _attribute(self, line: str, at: int) -> None:
        found = _NAME.match(line, at)
        if not found:
            raise ArffError("expected the name of an attribute", column=at + 1)
        name = next(cells.split(found[0])).text if found[0][0] in "'\"" else found[0]
        name = self._unique(name)
        start = found.end() + len(line[found.end() :]) - len(line[found.end() :].lstrip())
        kind = line[start:]
        word = kind.split(maxsplit=1)[0].lower() if kind else ""
        if word == "hierarchical":
            self._class(name, line, start + len("hierarchical"))
        elif word in _NUMERIC and len(kind.split()) == 1:
            self.attributes.append(Attribute(name))
        elif kind.startswith("{") and kind.endswith("}"):
            self.attributes.append(Attribute(name, _nominal(line, start)))
        else:
            raise ArffError(
                f"attribute {name!r} is of type {kind[:40]!r}; expected numeric, {{values}} or hierarchical",
                column=start + 1,
            )

    def _unique(self, name: str) -> str:
        """Number a name that is there already: the expr files of the benchmark use some names twice."""
        unique, times = name, 1
        while unique in self.names:
            times += 1
            unique = f"{name} ({times})"
        self.names.add(unique)
        return unique

    def _class(self, name: str, line: str, at: int) -> None:
        if self.of_class is not None:
            raise ArffError(f"a second hierarchical attribute, {name!r}", column=at + 1)
        try:
            hierarchy, is_tree = declared([entry.strip() for entry in line[at:].split(",")])
        except HierarchyError as error:
            raise ArffError(f"attribute {name!r}: {error}", column=at + 1) from None
        self.of_class = (name, len(self.attributes), hierarchy, is_tree)


def _nominal(line: str, at: int) -> tuple[str, ...]:
    values = tuple(cell.text for cell in cells.split(line[: line.rindex("}")], at + 1))
    if len(set(values)) < len(values) or "" in values:
        raise ArffError(f"the values {values} are not all different and not empty", column=at + 1)
    return values


def declared(entries: list[str]) -> tuple[Hierarchy, bool]:
    """Paths of a tree, or edges of a DAG: there every entry is a pair, and some parent is the root."""
    pairs = [tuple(entry.split("/")) for entry in entries]
    if all(len(pair) == 2 for pair in pairs) and any(pair[0] == ROOT for pair in pairs):
        return Hierarchy.from_edges((pair[0], pair[1]) for pair in pairs), False
    tree = Hierarchy.from_paths(entries)
    edges = [(tree.classes[parent], tree.classes[child]) for parent, child in tree.edges.tolist()]
    return Hierarchy.from_edges([*edges, *((ROOT, top) for top in tree.roots if top != ROOT)]), True

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
"""The class above all others, added to a tree without it."""

_NUMERIC = {"numeric", "real", "integer"}
_KEYWORD = re.compile(r"[ \t]*+@(?P<word>\w++)[ \t]*+(?P<rest>.*)")
_NAME = re.compile(r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|[^\s'"{}]++)""")


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: numeric, or nominal with its possible values."""

    name: str
    categories: tuple[str, ...] | None = None

    @property
    def numeric(self) -> bool:
        """Whether it has numbers."""
        return self.categories is None


@dataclass(frozen=True, slots=True)
class Header:
    """The content before ``@DATA``."""

    relation: str
    attributes: tuple[Attribute, ...]  # without the class attribute
    class_name: str
    class_position: int  # among all attributes
    hierarchy: Hierarchy
    is_tree: bool  # classes are paths; otherwise the file lists edges
    lines: int  # up to and including @DATA


def read_hierarchy(path: str | Path) -> Hierarchy:
    """Read the hierarchy from the header of a hierarchical ARFF file."""
    return parse(read_text(Path(path)).split("\n"), Path(path)).hierarchy


def read_text(path: Path) -> str:
    """Read a file of UTF-8 text."""
    return "".join(lines(path, ArffError))


def parse(text_lines: list[str], path: Path) -> Header:
    """Parse the lines up to ``@DATA``."""
    builder = _Builder()
    for number, line in enumerate(text_lines, start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("%"):
            continue
        try:
            if builder.add_line(line.rstrip()):
                return builder.finish(number)
        except ArffError as error:
            raise error.at(path, number) from None
    raise ArffError("there is no @DATA; expected a hierarchical ARFF file", path, len(text_lines), 1)


class _Builder:
    """A header in construction."""

    def __init__(self) -> None:
        self.relation = ""
        self.attributes: list[Attribute] = []
        self.names: set[str] = set()
        self.of_class: tuple[str, int, Hierarchy, bool] | None = None

    def add_line(self, line: str) -> bool:
        """Parse one line; return whether the header ends with it."""
        match = _KEYWORD.fullmatch(line)
        word = match["word"].lower() if match else ""
        if match and word == "relation":
            self.relation = next(cells.split(line, match.start("rest"))).text
        elif match and word == "attribute":
            self._add_attribute(line, match.start("rest"))
        elif not match or word != "data":
            raise ArffError(f"expected @RELATION, @ATTRIBUTE or @DATA, but found {line.strip()[:40]!r}", column=1)
        return word == "data"

    def finish(self, number: int) -> Header:
        if self.of_class is None:
            raise ArffError("no attribute is hierarchical; expected '@ATTRIBUTE class hierarchical ...'", column=1)
        name, position, hierarchy, is_tree = self.of_class
        return Header(self.relation, tuple(self.attributes), name, position, hierarchy, is_tree, number)

    def _add_attribute(self, line: str, position: int) -> None:
        match = _NAME.match(line, position)
        if not match:
            raise ArffError("expected the name of an attribute", column=position + 1)
        name = next(cells.split(match[0])).text if match[0][0] in "'\"" else match[0]
        name = self._make_unique(name)
        start = match.end() + len(line[match.end() :]) - len(line[match.end() :].lstrip())
        kind = line[start:]
        word = kind.split(maxsplit=1)[0].lower() if kind else ""
        if word == "hierarchical":
            self._add_class(name, line, start + len("hierarchical"))
        elif word in _NUMERIC and len(kind.split()) == 1:
            self.attributes.append(Attribute(name))
        elif kind.startswith("{") and kind.endswith("}"):
            self.attributes.append(Attribute(name, _parse_values(line, start)))
        else:
            raise ArffError(
                f"attribute {name!r} is of type {kind[:40]!r}; expected numeric, {{values}} or hierarchical",
                column=start + 1,
            )

    def _make_unique(self, name: str) -> str:
        """Number a duplicate name: the expr files of the benchmark have some."""
        unique, times = name, 1
        while unique in self.names:
            times += 1
            unique = f"{name} ({times})"
        self.names.add(unique)
        return unique

    def _add_class(self, name: str, line: str, position: int) -> None:
        if self.of_class is not None:
            raise ArffError(f"{name!r} is a second hierarchical attribute; expected one", column=position + 1)
        try:
            hierarchy, is_tree = parse_classes([entry.strip() for entry in line[position:].split(",")])
        except HierarchyError as error:
            raise ArffError(f"attribute {name!r}: {error}", column=position + 1) from None
        self.of_class = (name, len(self.attributes), hierarchy, is_tree)


def _parse_values(line: str, start: int) -> tuple[str, ...]:
    values = tuple(cell.text for cell in cells.split(line[: line.rindex("}")], start + 1))
    if len(set(values)) < len(values) or "" in values:
        raise ArffError(f"the values {values} have a duplicate or an empty value", column=start + 1)
    return values


def parse_classes(entries: list[str]) -> tuple[Hierarchy, bool]:
    """Return the hierarchy of paths or edges, and whether it is a tree.

    In a DAG every entry is a pair, and the root is one of the parents.
    """
    pairs = [tuple(entry.split("/")) for entry in entries]
    if all(len(pair) == 2 for pair in pairs) and any(pair[0] == ROOT for pair in pairs):
        return Hierarchy.from_edges((pair[0], pair[1]) for pair in pairs), False
    tree = Hierarchy.from_paths(entries)
    edges = [(tree.classes[parent], tree.classes[child]) for parent, child in tree.edges.tolist()]
    return Hierarchy.from_edges([*edges, *((ROOT, top) for top in tree.roots if top != ROOT)]), True

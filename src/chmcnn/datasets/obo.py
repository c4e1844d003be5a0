"""OBO, the format of the Gene Ontology: terms, what they are kinds and parts of, and what became of old ones."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.errors import HierarchyError, OntologyError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEADER = re.compile(r"\[(\w+)\]\s*(?:!.*)?")
_PART_OF = {"part_of", "BFO:0000050"}
_TEXTS = {"comment", "def", "name", "synonym", "xref"}  # tags whose value may have marks and braces in it
_BEHIND = re.compile(r"\s*(?<!\\)[!{].*")
_WORDS = {"true": True, "false": False}


@dataclass(frozen=True)
class Ontology:
    """Terms of an ontology that are in use, and where the others went.

    Attributes
    ----------
    hierarchy
        The terms in use; their ids are the names of the classes.
    names
        The name in words of each term.
    namespaces
        The namespace of each term, such as ``molecular_function``.
    moved
        Alternative ids, and obsolete terms that were replaced by exactly one, with the term that stands for them.
    obsolete
        Ids that nothing in use stands for, and those of namespaces that were not asked for.
    """

    hierarchy: Hierarchy
    names: Mapping[str, str]
    namespaces: Mapping[str, str]
    moved: Mapping[str, str]
    obsolete: frozenset[str]

    def current(self, term: str) -> str | None:
        """The term in use for an id, or None for one that went out of use; an id that never was is an error."""
        if term in self.hierarchy:
            return term
        if term in self.moved:
            return self.moved[term]
        if term in self.obsolete:
            return None
        raise OntologyError(f"{_wording.unknown(term, self.hierarchy.classes)} It is not in the ontology")


@dataclass
class _Term:
    line: int
    tags: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))

    def first(self, tag: str) -> str:
        return self.tags[tag][0][1] if tag in self.tags else ""

    @property
    def obsolete(self) -> bool:
        return _WORDS.get(self.first("is_obsolete").lower(), False)

    def parents(self, *, part_of: bool) -> Iterator[tuple[int, str]]:
        """Lines and ids of the terms above."""
        yield from self.tags.get("is_a", ())
        for line, value in self.tags.get("relationship", ()) if part_of else ():
            kind, *others = value.split()
            if kind in _PART_OF and others:
                yield line, others[0]


def read(path: str | Path, *, part_of: bool = False, namespace: str | None = None) -> Ontology:
    """Read an OBO file, plain or with ``.gz``.

    Parents from other ontologies, with a prefix that no term of the file has, are passed over.

    Parameters
    ----------
    path
        The file, such as ``go-basic.obo``.
    part_of
        Whether a part is below its whole too, and not only a kind below its genus (``is_a``).
    namespace
        Keep only the terms of one namespace, such as ``biological_process``; edges to other ones are left out.
    """
    file = Path(path)
    terms, default = _by_id(file)
    used = {term: stanza for term, stanza in terms.items() if not stanza.obsolete}
    spaces = {term: stanza.first("namespace") or default for term, stanza in used.items()}
    if namespace is not None and namespace not in spaces.values():
        there = ", ".join(sorted(filter(None, set(spaces.values())))) or "none"
        raise OntologyError(f"there is no term in the namespace {namespace!r}; there are: {there}", file)
    kept = {term: stanza for term, stanza in used.items() if namespace in (None, spaces[term])}
    edges = _edges(kept, used, file, part_of=part_of)
    try:
        hierarchy = Hierarchy.from_edges([edge for edge in edges if edge[0] in kept], classes=sorted(kept))
    except HierarchyError as error:
        raise OntologyError(str(error), file) from None
    others = _others(terms, file)
    moved = {old: term for old in others if (term := _follow(old, others, used)) in kept}
    return Ontology(
        hierarchy,
        MappingProxyType({term: stanza.first("name") for term, stanza in kept.items()}),
        MappingProxyType({term: spaces[term] for term in kept}),
        MappingProxyType(moved),
        frozenset({*terms, *others} - kept.keys() - moved.keys()),
    )


def _edges(
    terms: Mapping[str, _Term], known: Mapping[str, _Term], path: Path, *, part_of: bool
) -> Iterator[tuple[str, str]]:
    prefixes = {term.partition(":")[0] for term in known}
    for term, stanza in terms.items():
        for line, parent in stanza.parents(part_of=part_of):
            if parent in known:
                yield parent, term
            elif parent.partition(":")[0] in prefixes or ":" not in parent:
                raise OntologyError(
                    f"{term!r} is below {parent!r}, which is obsolete or not in the file; remove the line, or add the "
                    "term",
                    path,
                    line,
                )


def _others(terms: Mapping[str, _Term], path: Path) -> dict[str, str]:
    """Ids that are no term in use, each with what the file gives in its place; empty where that is nothing."""
    found: dict[str, str] = {}
    for term, stanza in terms.items():
        replaced = stanza.tags.get("replaced_by", ())
        if stanza.obsolete:
            found.setdefault(term, replaced[0][1] if len(replaced) == 1 else "")
    for term, stanza in terms.items():
        for line, old in stanza.tags.get("alt_id", ()):
            if found.get(old) and found[old] != term:
                raise OntologyError(
                    f"the alternative id {old!r} stands for {found[old]!r} and for {term!r}", path, line
                )
            if old not in terms or terms[old].obsolete:
                found[old] = term
    return found


def _follow(old: str, others: Mapping[str, str], used: Mapping[str, _Term]) -> str:
    """Go from id to id until one is in use; empty where none is."""
    seen = set()
    while old and old not in used and old not in seen:
        seen.add(old)
        old = others.get(old, "")
    return old if old in used else ""


def _by_id(path: Path) -> tuple[dict[str, _Term], str]:
    """Terms by id, and the namespace of those that name none."""
    terms: dict[str, _Term] = {}
    default = ""
    for kind, stanza in _stanzas(path):
        if kind == "":
            default = stanza.first("default-namespace")
        if kind != "Term":
            continue
        term = stanza.first("id")
        if not term:
            raise OntologyError("the term has no id", path, stanza.line)
        if len(stanza.tags["id"]) > 1:
            raise OntologyError(f"the term {term!r} has a second id", path, stanza.tags["id"][1][0])
        if term in terms:
            raise OntologyError(
                f"the term {term!r} is there twice, first on line {terms[term].line}", path, stanza.line
            )
        terms[term] = stanza
    if not terms:
        raise OntologyError("there is no [Term]; expected an OBO file", path)
    return terms, default


def _stanzas(path: Path) -> Iterator[tuple[str, _Term]]:
    """Kinds and tags: first those of the header, whose kind is empty, then of each stanza."""
    kind, stanza = "", _Term(1)
    for number, raw in enumerate(text.lines(path, OntologyError), start=1):
        line = raw.strip()
        if line.startswith("["):
            header = _HEADER.fullmatch(line)
            if not header or (header[1] != "Term" and header[1].lower() == "term"):
                raise OntologyError(f"expected [Term] or another stanza, however: {line[:40]!r}", path, number)
            yield kind, stanza
            kind, stanza = header[1], _Term(number)
        elif line and not line.startswith("!"):
            tag, colon, value = line.partition(":")
            if not colon and kind == "Term":
                raise OntologyError(f"expected 'tag: value', however: {line[:40]!r}", path, number)
            stanza.tags[tag].append((number, _bare(tag, value)))
            if tag == "is_obsolete" and _bare(tag, value).lower() not in _WORDS:
                raise OntologyError(f"is_obsolete is {value.strip()!r}; expected true or false", path, number)
    yield kind, stanza


def _bare(tag: str, value: str) -> str:
    """A value without the comment and the qualifiers behind it, and without escapes."""
    kept = value if tag in _TEXTS else _BEHIND.sub("", value)
    return re.sub(r"\\(.)", r"\1", kept).strip() if "\\" in kept else kept.strip()

"""OBO, the format of the Gene Ontology: terms, their parents, and replacements of old terms."""

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
    """Current terms of an ontology, and the replacements of other ids.

    Attributes
    ----------
    hierarchy
        The current terms; their ids are the class names, and their names the titles.
    names
        The readable name of each term.
    namespaces
        The namespace of each term, such as ``molecular_function``.
    moved
        Alternative ids and obsolete terms that exactly one term replaces, with that term.
    obsolete
        Ids without a replacement, and those of other namespaces.
    """

    hierarchy: Hierarchy
    names: Mapping[str, str]
    namespaces: Mapping[str, str]
    moved: Mapping[str, str]
    obsolete: frozenset[str]

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Ontology:
        """Return an ontology of the classes of a hierarchy, all of them current."""
        return cls(hierarchy, hierarchy.titles, {}, {}, frozenset())

    def has(self, term: str) -> bool:
        """Whether an id is one of a term, current or not."""
        return term in self.hierarchy or term in self.moved or term in self.obsolete

    def current(self, term: str) -> str | None:
        """Return the current term of an id, or None if it is obsolete; raise an error for an unknown id."""
        if term in self.hierarchy:
            return term
        if term in self.moved:
            return self.moved[term]
        if term in self.obsolete:
            return None
        raise OntologyError(f"{_wording.describe_unknown(term, self.hierarchy.classes)} It is not in the ontology")


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
        """Yield the line and id of each parent."""
        yield from self.tags.get("is_a", ())
        for line, value in self.tags.get("relationship", ()) if part_of else ():
            kind, *others = value.split()
            if kind in _PART_OF and others:
                yield line, others[0]


def read(path: str | Path, *, part_of: bool = False, namespace: str | None = None) -> Ontology:
    """Read an OBO file, plain or with ``.gz``.

    Parents from other ontologies, whose prefix no term of the file has, are ignored.

    Parameters
    ----------
    path
        The file, such as ``go-basic.obo``.
    part_of
        Whether ``part_of`` makes an edge, in addition to ``is_a``.
    namespace
        Read only the terms of one namespace, such as ``biological_process``, and the edges between them.
    """
    file = Path(path)
    terms, default = _by_id(file)
    current = {term: stanza for term, stanza in terms.items() if not stanza.obsolete}
    spaces = {term: stanza.first("namespace") or default for term, stanza in current.items()}
    if namespace is not None and namespace not in spaces.values():
        available = ", ".join(sorted(filter(None, set(spaces.values())))) or "no namespaces"
        raise OntologyError(f"no term is in the namespace {namespace!r}; the file has {available}", file)
    selected = {term: stanza for term, stanza in current.items() if namespace in (None, spaces[term])}
    edges = _edges(selected, current, file, part_of=part_of)
    names = {term: stanza.first("name") for term, stanza in selected.items()}
    try:
        hierarchy = Hierarchy.from_edges([edge for edge in edges if edge[0] in selected], sorted(selected), names)
    except HierarchyError as error:
        raise OntologyError(str(error), file) from None
    replacements = _read_replacements(terms)
    moved = {old: term for old in replacements if (term := _follow(old, replacements, current)) in selected}
    return Ontology(
        hierarchy,
        MappingProxyType(names),
        MappingProxyType({term: spaces[term] for term in selected}),
        MappingProxyType(moved),
        frozenset({*terms, *replacements} - selected.keys() - moved.keys()),
    )


def _edges(
    terms: Mapping[str, _Term], current: Mapping[str, _Term], path: Path, *, part_of: bool
) -> Iterator[tuple[str, str]]:
    prefixes = {term.partition(":")[0] for term in current}
    for term, stanza in terms.items():
        for line, parent in stanza.parents(part_of=part_of):
            if parent in current:
                yield parent, term
            elif parent.partition(":")[0] in prefixes or ":" not in parent:
                raise OntologyError(
                    f"{parent!r}, a parent of {term!r}, is obsolete or not in the file; remove the line, or add the "
                    "term",
                    path,
                    line,
                )


def _read_replacements(terms: Mapping[str, _Term]) -> dict[str, str]:
    """Return the replacement of each id that is not a current term; empty if there is none, or more than one."""
    candidates: defaultdict[str, set[str]] = defaultdict(set)
    for term, stanza in terms.items():
        if stanza.obsolete:
            candidates[term] |= {new for _, new in stanza.tags.get("replaced_by", ())}
        for _, old in stanza.tags.get("alt_id", ()):
            if old not in terms or terms[old].obsolete:
                candidates[old].add(term)
    return {old: next(iter(new)) if len(new) == 1 else "" for old, new in candidates.items()}


def _follow(old: str, replacements: Mapping[str, str], current: Mapping[str, _Term]) -> str:
    """Follow the replacements up to a current term; return an empty text if there is none."""
    seen = set()
    while old and old not in current and old not in seen:
        seen.add(old)
        old = replacements.get(old, "")
    return old if old in current else ""


def _by_id(path: Path) -> tuple[dict[str, _Term], str]:
    """Return the terms by id, and the default namespace."""
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
            raise OntologyError(f"the term {term!r} appears twice, first on line {terms[term].line}", path, stanza.line)
        terms[term] = stanza
    if not terms:
        raise OntologyError("there is no [Term]; expected an OBO file", path)
    return terms, default


def _stanzas(path: Path) -> Iterator[tuple[str, _Term]]:
    """Yield the kind and tags of the header, whose kind is empty, and of each stanza."""
    kind, stanza = "", _Term(1)
    for number, raw in enumerate(text.lines(path, OntologyError), start=1):
        line = raw.strip()
        if line.startswith("["):
            header = _HEADER.fullmatch(line)
            if not header or (header[1] != "Term" and header[1].lower() == "term"):
                raise OntologyError(f"expected [Term] or another stanza, but the line is {line[:40]!r}", path, number)
            yield kind, stanza
            kind, stanza = header[1], _Term(number)
        elif line and not line.startswith("!"):
            tag, colon, value = line.partition(":")
            if not colon and kind == "Term":
                raise OntologyError(f"expected 'tag: value', but the line is {line[:40]!r}", path, number)
            stanza.tags[tag].append((number, _bare(tag, value)))
            if tag == "is_obsolete" and _bare(tag, value).lower() not in _WORDS:
                raise OntologyError(f"is_obsolete is {value.strip()!r}; expected true or false", path, number)
    yield kind, stanza


def _bare(tag: str, value: str) -> str:
    """Return a value without comment, qualifiers and escapes."""
    content = value if tag in _TEXTS else _BEHIND.sub("", value)
    return re.sub(r"\\(.)", r"\1", content).strip() if "\\" in content else content.strip()

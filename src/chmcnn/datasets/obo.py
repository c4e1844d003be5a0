"""OBO, the format of the Gene Ontology: terms, what they are kinds and parts of, and what became of old ones."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn import _names
from chmcnn.datasets import text
from chmcnn.errors import HierarchyError, OntologyError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


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
        Terms out of use that nothing stands for, and those of namespaces that were not asked for.
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
        raise OntologyError(f"{_names.unknown(term, self.hierarchy.classes)} It is not in the ontology")


@dataclass
class _Term:
    line: int
    tags: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))

    def first(self, tag: str) -> str:
        return self.tags[tag][0][1] if tag in self.tags else ""

    @cached_property
    def obsolete(self) -> bool:
        return self.first("is_obsolete") == "true"

    def parents(self, *, part_of: bool) -> Iterator[tuple[int, str]]:
        """Lines and ids of the terms above."""
        yield from self.tags.get("is_a", ())
        for line, value in self.tags.get("relationship", ()) if part_of else ():
            kind, _, other = value.partition(" ")
            if kind == "part_of":
                yield line, other.split(" ", 1)[0]


def read(path: str | Path, *, part_of: bool = False, namespace: str | None = None) -> Ontology:
    """Read an OBO file, plain or with ``.gz``.

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
    terms = _by_id(file)
    used = {term: stanza for term, stanza in terms.items() if not stanza.obsolete}
    namespaces = {term: stanza.first("namespace") for term, stanza in used.items()}
    if namespace is not None and namespace not in namespaces.values():
        there = ", ".join(sorted(filter(None, set(namespaces.values())))) or "none"
        raise OntologyError(f"there is no term in the namespace {namespace!r}; there are: {there}", file)
    kept = [term for term in used if namespace in (None, namespaces[term])]
    edges = list(_edges({term: used[term] for term in kept}, used, file, part_of=part_of))
    keep = set(kept)
    try:
        hierarchy = Hierarchy.from_edges([edge for edge in edges if edge[0] in keep], classes=sorted(kept))
    except HierarchyError as error:
        raise OntologyError(str(error).rstrip("."), file) from None
    moved = {old: term for old, term in _moved(terms) if term in keep and old not in keep}
    gone = frozenset({*terms, *(old for old, _ in _moved(terms))} - keep - moved.keys())
    return Ontology(hierarchy, {term: used[term].first("name") for term in kept}, namespaces, moved, gone)


def _edges(
    terms: Mapping[str, _Term], known: Mapping[str, _Term], path: Path, *, part_of: bool
) -> Iterator[tuple[str, str]]:
    for term, stanza in terms.items():
        for line, parent in stanza.parents(part_of=part_of):
            if parent not in known:
                raise OntologyError(
                    f"{term!r} is below {parent!r}, which is obsolete or not in the file; remove the line, or add the "
                    "term",
                    path,
                    line,
                )
            yield parent, term


def _moved(terms: Mapping[str, _Term]) -> Iterator[tuple[str, str]]:
    for term, stanza in terms.items():
        if stanza.obsolete and len(stanza.tags.get("replaced_by", ())) == 1:
            yield term, stanza.first("replaced_by")
        if not stanza.obsolete:
            yield from ((old, term) for _, old in stanza.tags.get("alt_id", ()))


def _by_id(path: Path) -> dict[str, _Term]:
    terms: dict[str, _Term] = {}
    for stanza in _stanzas(path):
        term = stanza.first("id")
        if not term:
            raise OntologyError("the term has no id", path, stanza.line)
        if term in terms:
            raise OntologyError(
                f"the term {term!r} is there twice, first on line {terms[term].line}", path, stanza.line
            )
        terms[term] = stanza
    if not terms:
        raise OntologyError("there is no [Term]; expected an OBO file", path)
    return terms


def _stanzas(path: Path) -> Iterator[_Term]:
    stanza: _Term | None = None
    for number, raw in enumerate(text.lines(path, OntologyError), start=1):
        line = raw.strip()
        if line.startswith("["):
            if stanza:
                yield stanza
            stanza = _Term(number) if line == "[Term]" else None
        elif stanza and line and not line.startswith("!"):
            tag, colon, value = line.partition(":")
            if not colon:
                raise OntologyError(f"expected 'tag: value', however: {line[:40]!r}", path, number)
            stanza.tags[tag].append((number, _bare(tag, value)))
    if stanza:
        yield stanza


def _bare(tag: str, value: str) -> str:
    """A value without the comment behind `` ! `` and the qualifiers in braces, which only texts may have in them."""
    if tag in {"def", "comment", "synonym", "name"}:
        return value.strip()
    return value.partition(" !")[0].partition(" {")[0].strip()

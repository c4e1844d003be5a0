"""SKOS vocabularies in Turtle or N-Triples: concepts, the broader ones above them, and their preferred labels."""

from __future__ import annotations

import logging
import re
from collections import Counter, defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn._io import text
from chmcnn.errors import HierarchyError, OntologyError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rdflib import Graph
    from rdflib.term import Node

_UNREADABLE = (SyntaxError, ValueError, LookupError, AssertionError, TypeError, AttributeError, RecursionError)
"""What rdflib raises for a file that is not Turtle."""
_BASE = "file:///"
"""Relative IRIs start with it; their last part, which names the class, does not depend on it."""


def read(path: str | Path, *, language: str = "en") -> Hierarchy:
    """Read a SKOS vocabulary, plain or with ``.gz``; nothing is fetched from the network.

    Edges are ``skos:broader`` and ``skos:narrower``; in a file with neither, ``skos:broaderTransitive`` and
    ``skos:narrowerTransitive``. Concepts that are ``owl:deprecated`` are omitted. A class is named by the last part of
    the IRI of its concept. If two concepts have the same last part, all classes are named by their ``skos:notation``,
    or, if these are not unique either, by their whole IRIs.

    Parameters
    ----------
    path
        The file, such as ``thesaurus.ttl`` or ``thesaurus.nt``.
    language
        Language of the titles, which are the preferred labels. A concept without a label in this language has the one
        without a language, or else one of another language.
    """
    file = Path(path)
    graph = _parse(file)
    concepts, edges = _concepts_and_edges(graph, file)
    names = _names(graph, concepts)
    titles = {names[concept]: _title(graph, concept, language) for concept in concepts}
    try:
        return Hierarchy.from_edges(
            ((names[broader], names[narrower]) for broader, narrower in edges), sorted(names.values()), titles
        )
    except HierarchyError as error:
        raise OntologyError(str(error), file) from None


def _parse(path: Path) -> Graph:
    try:
        import rdflib
    except ModuleNotFoundError:
        raise OntologyError('SKOS needs rdflib: pip install "chmcnn[skos]"', path) from None
    content = "".join(text.lines(path, OntologyError))
    try:
        with _silent("rdflib.term"):
            return rdflib.Graph().parse(data=content, format="turtle", publicID=_BASE)  # N-Triples are Turtle too
    except RecursionError:
        raise OntologyError("the file is nested too deeply to be a vocabulary", path) from None
    except _UNREADABLE as error:
        line = getattr(error, "lines", None)
        found = re.search(r"Bad syntax \((.*)\) at \^", str(error))
        problem = found[1] if found else str(error).splitlines()[0] if str(error) else type(error).__name__
        raise OntologyError(
            f"the file is not valid Turtle: {problem}", path, None if line is None else line + 1
        ) from None


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Turn off a logger: rdflib complains about malformed dates, which do not matter here."""
    logger = logging.getLogger(name)
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _concepts_and_edges(graph: Graph, path: Path) -> tuple[list[Node], list[tuple[Node, Node]]]:
    """Return the concepts in use, sorted, and the edges between them, from the broader one to the narrower one."""
    from rdflib import OWL, RDF, SKOS, URIRef

    edges = {(above, below) for below, above in graph.subject_objects(SKOS.broader)}
    edges |= set(graph.subject_objects(SKOS.narrower))
    if not edges:
        edges = {(above, below) for below, above in graph.subject_objects(SKOS.broaderTransitive)}
        edges |= set(graph.subject_objects(SKOS.narrowerTransitive))
    concepts = {*graph.subjects(RDF.type, SKOS.Concept), *(node for edge in edges for node in edge)}
    for node in concepts:
        if not isinstance(node, URIRef):
            raise OntologyError(f"the concept {_shown(graph, node)} has no IRI; give it one", path)
    deprecated = {node for node, value in graph.subject_objects(OWL.deprecated) if str(value).lower() in {"true", "1"}}
    if not concepts - deprecated:
        raise OntologyError(
            "there is no concept: nothing is a skos:Concept, or has a skos:broader or skos:narrower one; expected a "
            "SKOS vocabulary",
            path,
        )
    return sorted(concepts - deprecated, key=str), [edge for edge in edges if deprecated.isdisjoint(edge)]


def _shown(graph: Graph, node: Node) -> str:
    """Return a concept without an IRI by its label."""
    return repr(_title(graph, node, "en") or str(node))


def _names(graph: Graph, concepts: list[Node]) -> dict[Node, str]:
    from rdflib import SKOS

    last_parts = {concept: re.split(r"[/#]", str(concept).rstrip("/#"))[-1] for concept in concepts}
    if _usable(list(last_parts.values())):
        return last_parts
    notations = defaultdict(list)
    for concept, value in graph.subject_objects(SKOS.notation):
        notations[concept].append(_as_text(value))
    numbers = {concept: notations[concept][0] for concept in concepts if len(set(notations[concept])) == 1}
    if len(numbers) == len(concepts) and _usable(list(numbers.values())):
        return numbers
    return {concept: str(concept) for concept in concepts}


def _usable(names: list[str]) -> bool:
    return all(name.strip() for name in names) and max(Counter(names).values()) == 1


def _title(graph: Graph, concept: Node, language: str) -> str:
    """Return the preferred label: in the language or a variety of it, without a language, or in another one."""
    from rdflib import SKOS

    def rank(label: Node) -> tuple[int, str, str]:
        tag = str(getattr(label, "language", None) or "").lower()
        wanted = language.lower()
        order = 0 if tag == wanted else 1 if tag.startswith(f"{wanted}-") else 2 if not tag else 3
        return order, tag, str(label)

    labels = sorted(graph.objects(concept, SKOS.prefLabel), key=rank)
    return _as_text(labels[0]) if labels else ""


def _as_text(literal: Node) -> str:
    """Return a literal as text that can be written in UTF-8."""
    return str(literal).encode("utf-8", "replace").decode()

"""The terms of genes: which gene products the rows are, and which of their annotations count."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chmcnn import _wording
from chmcnn.datasets import annotation_files, gaf
from chmcnn.datasets.annotation_summary import AnnotationSummary
from chmcnn.errors import DatasetError, OntologyError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from chmcnn.datasets.gaf import Annotation
    from chmcnn.datasets.obo import Ontology


@dataclass(frozen=True, slots=True)
class Genes:
    """The gene products of the rows, and what else a first look at the annotations shows."""

    path: Path
    by_row: list[str]  # the id of the product, or nothing
    ambiguous: dict[str, set[str]]  # the products of names that belong to several
    annotations: int
    codes: frozenset[str]

    def describe_ambiguous(self) -> str:
        """Say which names match several products."""
        first = min(self.ambiguous)
        return (
            f"{_wording.count(len(self.ambiguous), 'gene')} omitted: the names match several gene products of "
            f"{self.path}. The first is {first!r}: {', '.join(sorted(self.ambiguous[first])[:3])}."
        )


def match_genes(names: list[str], path: Path) -> Genes:
    """Find the gene product of each gene name by id, then symbol, then synonym."""
    genes = set(names)
    meanings: tuple[defaultdict[str, set[str]], ...] = (defaultdict(set), defaultdict(set), defaultdict(set))
    example, number, codes = "nothing", 0, set()
    for annotation in annotation_files.read(path):
        example, number = annotation.id, number + 1
        codes.add(annotation.evidence)
        for products, own in zip(meanings, ((annotation.id,), (annotation.symbol,), annotation.synonyms), strict=True):
            for name in genes.intersection(own):
                products[name].add(annotation.id)
    ids, symbols, synonyms = meanings
    matches = {name: products for name, products in (synonyms | symbols | ids).items() if name}
    if not matches:
        raise DatasetError(
            f"No gene of the features is in {path}: the features have {min(genes)!r}, say, but the annotations "
            f"{example!r}. Name the column of gene names with id_column=."
        )
    ambiguous = {name: products for name, products in matches.items() if len(products) > 1}
    unique = {name: next(iter(products)) for name, products in matches.items() if name not in ambiguous}
    return Genes(path, [unique.get(name, "") for name in names], ambiguous, number, frozenset(codes - {""}))


def check_evidence(evidence: Collection[str] | None, genes: Genes) -> frozenset[str] | None:
    """Return the evidence codes to use, or None for all."""
    if isinstance(evidence, str):
        raise DatasetError(f"evidence is {evidence!r}; expected a set of evidence codes, such as {{{evidence!r}}}.")
    if evidence is None:
        return None
    codes = gaf.expand_evidence(evidence)
    known = {*gaf.EVIDENCE_GROUPS, *frozenset().union(*gaf.EVIDENCE_GROUPS.values()), *genes.codes}
    wrong = sorted(codes - known)
    if wrong:
        near = _wording.nearest(wrong[0], sorted(known))
        raise DatasetError(
            f"evidence has {wrong[0]!r}, which is neither an evidence code nor a group of them"
            f"{f'; did you mean {near!r}?' if near else ', such as IDA or EXPERIMENTAL.'}"
        )
    if not genes.codes & codes:
        available = f"it has {sorted(genes.codes)}" if genes.codes else "it has no evidence codes: leave out evidence="
        raise DatasetError(f"{genes.path} has none of the evidence codes {sorted(codes)}; {available}.")
    return codes


@dataclass(slots=True)
class Found:
    """The terms of gene products, and how many annotations came to what end."""

    terms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    counts: Counter[str] = field(default_factory=Counter)
    unknown: dict[str, int] = field(default_factory=dict)  # the first line of each unknown term

    def summary(self, genes: Genes) -> AnnotationSummary:
        """Return the counts of annotations and genes."""
        ends = {name: self.counts[name] for name in ("used", "negated", "other_evidence", "obsolete", "unknown")}
        return AnnotationSummary(
            source=str(genes.path),
            read=genes.annotations,
            matched=sum(ends.values()),
            replaced=self.counts["replaced"],
            **ends,
            rows=len(genes.by_row),
            unmatched=genes.by_row.count("") - len(genes.ambiguous),
            ambiguous=len(genes.ambiguous),
        )


def find_terms(genes: Genes, ontology: Ontology, evidence: frozenset[str] | None, *, skip: bool) -> Found:
    """Collect the current terms of the gene products of the rows."""
    found, products = Found(), {product for product in genes.by_row if product}
    for annotation in annotation_files.read(genes.path):
        if annotation.id in products:
            found.counts[_add_term(annotation, ontology, evidence, found)] += 1
    if found.unknown and (not skip or found.counts["unknown"] == _tried(found)):
        raise _unknown_terms(found, ontology, genes.path)
    if not found.terms:
        known = _wording.count(len(products), "gene")
        raise DatasetError(
            f"{genes.path} has {known} of the features, but none with a usable annotation: use more evidence codes or "
            "namespaces."
        )
    return found


def _add_term(annotation: Annotation, ontology: Ontology, evidence: frozenset[str] | None, found: Found) -> str:
    """Add the term of an annotation; return what became of it."""
    if annotation.negated:
        return "negated"
    if evidence is not None and annotation.evidence not in evidence:
        return "other_evidence"
    if not ontology.has(annotation.term):
        found.unknown.setdefault(annotation.term, annotation.line)
        return "unknown"
    term = ontology.current(annotation.term)
    if term is None:
        return "obsolete"
    found.terms[annotation.id].add(term)
    found.counts["replaced"] += term != annotation.term
    return "used"


def _tried(found: Found) -> int:
    """Return the number of annotations whose terms were looked up."""
    return sum(found.counts[name] for name in ("used", "obsolete", "unknown"))


def _unknown_terms(found: Found, ontology: Ontology, path: Path) -> OntologyError:
    (term, line), *others = found.unknown.items()
    if found.counts["unknown"] == _tried(found):
        return OntologyError(
            f"no term of these genes is in the ontology: the annotations have {term!r}, say, but the ontology "
            f"{ontology.hierarchy.classes[-1]!r}. Use the ontology that the annotations are made with",
            path,
            line,
            annotation_files.term_column(path),
        )
    more = f" {_wording.count(len(others), 'other term')} of the file are unknown too." if others else ""
    return OntologyError(
        f"{_wording.describe_unknown(term, ontology.hierarchy.classes)} It is not in the ontology.{more} Use the "
        "ontology that the annotations are made with, or skip such annotations with unknown='skip'",
        path,
        line,
        annotation_files.term_column(path),
    )

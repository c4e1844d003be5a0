"""`AnnotationSummary`: what became of the annotations, the rows and the classes of a training set."""

from __future__ import annotations

from dataclasses import dataclass

from chmcnn import _wording


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationSummary:
    """Counts of `chmcnn.datasets.annotate`; printed, they are two sentences.

    Attributes
    ----------
    source
        The file of annotations.
    read
        Annotations in the file.
    matched
        Those of genes in the table: ``used + negated + other_evidence + obsolete + unknown``.
    used
        Those that became labels.
    replaced
        Those of ``used`` whose term is an alternative or obsolete id, and was replaced by the current one.
    negated
        Those with ``NOT``.
    other_evidence
        Those with an evidence code that was not asked for.
    obsolete
        Those of obsolete terms without a replacement, and of other namespaces.
    unknown
        Those of terms that the ontology does not have.
    rows
        Rows of the table.
    unmatched
        Rows whose gene is not in the file.
    ambiguous
        Rows whose gene name belongs to several gene products.
    labelled
        Rows with a class: those of the training set.
    classes
        Classes of the training set.
    rare
        Classes with too few rows, which are not in the training set.

    Examples
    --------
    >>> counts = {"read": 9, "matched": 4, "used": 3, "negated": 1, "replaced": 1}
    >>> print(AnnotationSummary(source="my.gaf", rows=5, unmatched=2, labelled=3, classes=7, **counts))
    my.gaf: 9 annotations, 4 of them of genes in the table: 3 used (1 of a replaced term), 1 negated.
    3 of 5 rows have labels, of 7 classes: 2 genes are not in the file.
    """

    source: str
    read: int = 0
    matched: int = 0
    used: int = 0
    replaced: int = 0
    negated: int = 0
    other_evidence: int = 0
    obsolete: int = 0
    unknown: int = 0
    rows: int = 0
    unmatched: int = 0
    ambiguous: int = 0
    labelled: int = 0
    classes: int = 0
    rare: int = 0

    def __str__(self) -> str:
        """Return two sentences, without what is zero."""
        replaced = f" ({self.replaced:,} of a replaced term)" if self.replaced else ""
        parts = {
            "negated": self.negated,
            "of other evidence": self.other_evidence,
            "obsolete or in another namespace": self.obsolete,
            "of an unknown term": self.unknown,
        }
        dropped = "".join(f", {number:,} {what}" for what, number in parts.items() if number)
        notes = {
            f"{_are(self.unmatched, 'gene')} not in the file": self.unmatched,
            f"{_wording.count(self.ambiguous, 'gene name')} of several gene products": self.ambiguous,
            f"{_wording.count(self.rare, 'class')} with too few rows left out": self.rare,
        }
        details = ", ".join(note for note, number in notes.items() if number)
        return (
            f"{self.source}: {_wording.count(self.read, 'annotation')}, {self.matched:,} of them of genes in the "
            f"table: {self.used:,} used{replaced}{dropped}.\n"
            f"{self.labelled:,} of {_wording.count(self.rows, 'row')} have labels, of "
            f"{_wording.count(self.classes, 'class')}{f': {details}' if details else ''}."
        )


def _are(number: int, noun: str) -> str:
    return f"{_wording.count(number, noun)} {'is' if number == 1 else 'are'}"

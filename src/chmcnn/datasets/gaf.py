"""GAF, the format of gene annotations: gene products, their terms, and the evidence."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.errors import OntologyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

EXPERIMENTAL = frozenset({"EXP", "IDA", "IPI", "IMP", "IGI", "IEP", "HTP", "HDA", "HMP", "HGI", "HEP"})
"""Evidence codes of annotations from experiments."""
EVIDENCE_GROUPS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "EXPERIMENTAL": EXPERIMENTAL,
        "PHYLOGENETIC": frozenset({"IBA", "IBD", "IKR", "IRD"}),
        "COMPUTATIONAL": frozenset({"ISS", "ISO", "ISA", "ISM", "IGC", "RCA"}),
        "AUTHOR": frozenset({"TAS", "NAS"}),
        "CURATOR": frozenset({"IC", "ND"}),
        "ELECTRONIC": frozenset({"IEA"}),
    }
)
"""Evidence codes of the Gene Ontology by the kind of evidence."""


def expand_evidence(names: Iterable[str]) -> frozenset[str]:
    """Replace the names of groups by their evidence codes.

    >>> sorted(expand_evidence(["author", "IDA"]))
    ['IDA', 'NAS', 'TAS']
    """
    upper = [name.strip().upper() for name in names]
    return frozenset().union(*(EVIDENCE_GROUPS.get(name, {name}) for name in upper))


_CELLS = (15, 17)  # of GAF 1 and 2


class Annotation(NamedTuple):
    """One line: a gene product has a term, or does not have it if ``negated``."""

    line: int
    id: str
    symbol: str
    synonyms: tuple[str, ...]
    negated: bool
    term: str
    evidence: str


def read(path: str | Path) -> Iterator[Annotation]:
    """Read the annotations of a GAF file, version 1 or 2, plain or with ``.gz``."""
    file = Path(path)
    for number, raw in enumerate(text.lines(file, OntologyError), start=1):
        if not raw.strip() or raw.startswith("!"):
            continue
        cells = [cell.strip() for cell in raw.rstrip("\r\n").split("\t")]
        if not _CELLS[0] <= len(cells) <= _CELLS[1]:
            cell_count = _wording.count(len(cells), "cell")
            raise OntologyError(f"the line has {cell_count}; expected 15 to 17, separated by tabs", file, number)
        if not cells[1] or not cells[4]:
            raise OntologyError("the gene product or its term is empty", file, number, 2 if cells[4] else 5)
        synonyms = tuple(filter(None, (name.strip() for name in cells[10].split("|"))))
        negated = "NOT" in (part.strip().upper() for part in cells[3].split("|"))
        yield Annotation(number, cells[1], cells[2], synonyms, negated, cells[4], cells[6].upper())

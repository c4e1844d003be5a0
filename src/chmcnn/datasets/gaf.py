"""GAF, the format of gene annotations: gene products, their terms, and the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.errors import OntologyError

if TYPE_CHECKING:
    from collections.abc import Iterator

EXPERIMENTAL = frozenset({"EXP", "IDA", "IPI", "IMP", "IGI", "IEP", "HTP", "HDA", "HMP", "HGI", "HEP"})
"""Evidence codes of annotations from experiments."""
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
        yield Annotation(number, cells[1], cells[2], synonyms, negated, cells[4], cells[6])

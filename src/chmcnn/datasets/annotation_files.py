"""Files of annotations: GAF, or a table of genes and terms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn import _wording
from chmcnn._io import text
from chmcnn.datasets import delimited, gaf
from chmcnn.errors import OntologyError, TableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chmcnn.datasets.gaf import Annotation

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_LIKE_A_TERM = re.compile(r"[A-Za-z_]+:\w*\d")


def read(path: str | Path) -> Iterator[Annotation]:
    """Read a table of genes and terms if the file ends in ``.csv`` or ``.tsv``, and otherwise a GAF file.

    A table has a header; its first column has the genes, the second one their terms, one in each row. A column
    ``evidence`` has evidence codes. Other columns are ignored.
    """
    file = Path(path)
    delimiter = _DELIMITERS.get(text.ending(file))
    return gaf.read(file) if delimiter is None else _read_table(file, delimiter)


def term_column(path: Path) -> int:
    """Return the number of the column of terms, counted from 1."""
    return 2 if text.ending(path) in _DELIMITERS else 5


def _read_table(path: Path, delimiter: str) -> Iterator[Annotation]:
    try:
        for number, (line, row) in enumerate(delimited.rows(path, delimiter)):
            cells = [cell.strip() for cell in row]
            if number == 0:
                header = cells
                _check_header(header, path)
                continue
            if len(cells) != len(header):
                found = _wording.count(len(cells), "cell")
                raise OntologyError(f"the row has {found}, but the header has {len(header)}", path, line)
            if not cells[0] or not cells[1]:
                raise OntologyError("the gene or its term is empty", path, line, 2 if cells[0] else 1)
            evidence = cells[header.index("evidence")].upper() if "evidence" in header else ""
            yield gaf.Annotation(line, cells[0], "", (), negated=False, term=cells[1], evidence=evidence)
    except TableError as error:
        raise OntologyError(error.problem, path, error.line, error.column) from None


def _check_header(header: list[str], path: Path) -> None:
    if len(header) < 2:
        raise OntologyError("expected a column of genes and a column of terms, but there is one column", path, 1)
    if _LIKE_A_TERM.match(header[1]):
        raise OntologyError(
            f"the first line is the header, but {header[1]!r} is a term; put a header such as gene and term before it",
            path,
            1,
            2,
        )

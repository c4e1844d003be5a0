"""Gene annotations (GAF), joined with an ontology and a table of features into a training set."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chmcnn import _names
from chmcnn.datasets import obo, text
from chmcnn.datasets.dataset import Table
from chmcnn.datasets.table import read_features
from chmcnn.errors import ChmcnnError, DatasetError, OntologyError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pandas as pd

    from chmcnn.datasets.obo import Ontology

EXPERIMENTAL = frozenset({"EXP", "IDA", "IPI", "IMP", "IGI", "IEP", "HTP", "HDA", "HMP", "HGI", "HEP"})
"""Evidence codes of annotations that an experiment stands behind."""
_COLUMNS = (15, 17)  # of GAF 1 and 2


class Annotation(NamedTuple):
    """One line of a GAF file: a gene product has a term."""

    line: int
    id: str
    symbol: str
    synonyms: tuple[str, ...]
    qualifiers: tuple[str, ...]
    term: str
    evidence: str


def read_gaf(path: str | Path) -> Iterator[Annotation]:
    """Read the annotations of a GAF file, version 1 or 2, plain or with ``.gz``."""
    file = Path(path)
    for number, raw in enumerate(text.lines(file, OntologyError), start=1):
        line = raw.rstrip("\r\n")
        if not line.strip() or line.startswith("!"):
            continue
        cells = line.split("\t")
        if not _COLUMNS[0] <= len(cells) <= _COLUMNS[1]:
            found = _names.count(len(cells), "cell")
            raise OntologyError(f"the line has {found}; a GAF line has 15 to 17, with tabs between", file, number)
        qualifiers, synonyms = (tuple(filter(None, cells[at].split("|"))) for at in (3, 10))
        annotation = Annotation(
            number, cells[1].strip(), cells[2].strip(), synonyms, qualifiers, cells[4].strip(), cells[6]
        )
        if not annotation.id or not annotation.term:
            raise OntologyError("the gene product or its term is empty", file, number, 2 if annotation.term else 5)
        yield annotation


def annotate(  # noqa: PLR0913 -- all but three by name, each with a default
    features: str | Path | pd.DataFrame,
    annotations: str | Path,
    ontology: str | Path | Ontology,
    *,
    id_column: str | None = None,
    part_of: bool = True,
    namespace: str | None = None,
    evidence: Collection[str] | None = None,
    least: int = 1,
    categorical: Sequence[str] = (),
    sparse: bool = False,
) -> Table:
    """Join a table of features with a GAF file and an OBO ontology into a training set.

    A row is matched by the id, the symbol or a synonym of a gene product, in that order. Annotations with ``NOT``
    say nothing about what a gene product is and are left out; alternative and replaced ids are brought up to date;
    terms out of use are left out. Rows without any annotation are left out.

    Parameters
    ----------
    features
        A table with a column of gene names, or a DataFrame whose index they are.
    annotations
        The GAF file.
    ontology
        The OBO file, or what `chmcnn.datasets.obo.read` gave.
    id_column
        The column of gene names; the first one by default.
    part_of, namespace
        As in `chmcnn.datasets.obo.read`.
    evidence
        Evidence codes that count, such as `EXPERIMENTAL`; all by default.
    least
        Leave out classes that fewer rows have.
    categorical
        As in `chmcnn.datasets.read_table`.
    sparse
        Whether the label matrix is sparse.
    """
    known = ontology if isinstance(ontology, obo.Ontology) else obo.read(ontology, part_of=part_of, namespace=namespace)
    table = _features(features, id_column, categorical)
    terms = _terms(Path(annotations), known, evidence)
    label_sets = [terms.get(str(gene), frozenset()) for gene in table.index]
    annotated = np.array([bool(labels) for labels in label_sets], dtype=np.bool_)
    if not annotated.any():
        raise DatasetError(
            f"No row of the features has an annotation in {annotations}: the first one is {table.index[0]!r}, however "
            f"the annotations name {next(iter(terms), 'nothing')!r}. Name the column of gene names with id_column."
        )
    labels = known.hierarchy.encode_sparse(label_sets[row] for row in np.flatnonzero(annotated))
    frequent = np.asarray(labels.sum(axis=0)).ravel() >= max(least, 1)
    if not frequent.any():
        raise DatasetError(f"No class has {least} rows; the most frequent has {int(labels.sum(axis=0).max())}.")
    hierarchy = known.hierarchy.restrict([name for name, kept in zip(known.hierarchy, frequent, strict=True) if kept])
    matrix = labels[:, [known.hierarchy.index(name) for name in hierarchy]]
    return Table(table[annotated], matrix if sparse else matrix.toarray(), hierarchy, source=str(annotations))


def _features(features: str | Path | pd.DataFrame, id_column: str | None, categorical: Sequence[str]) -> pd.DataFrame:
    if isinstance(features, str | Path):
        return read_features(features, id_column=id_column or 0, categorical=categorical)
    return features.set_index(id_column) if id_column else features


def _terms(path: Path, ontology: Ontology, evidence: Collection[str] | None) -> Mapping[str, frozenset[str]]:
    """Terms in use by each name of a gene product: an id goes before a symbol, and that before a synonym."""
    found: tuple[defaultdict[str, set[str]], ...] = (defaultdict(set), defaultdict(set), defaultdict(set))
    for annotation in read_gaf(path):
        if "NOT" in annotation.qualifiers or (evidence is not None and annotation.evidence not in evidence):
            continue
        try:
            term = ontology.current(annotation.term)
        except ChmcnnError as error:
            raise OntologyError(str(error).rstrip("."), path, annotation.line, 5) from None
        if term is not None:
            for by_name, names in zip(
                found, ((annotation.id,), (annotation.symbol,), annotation.synonyms), strict=True
            ):
                for name in names:
                    by_name[name].add(term)
    ids, symbols, synonyms = found
    return {name: frozenset(terms) for name, terms in (synonyms | symbols | ids).items()}

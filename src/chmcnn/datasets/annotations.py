"""`annotate`: gene annotations, an ontology and a table of features make a training set."""

from __future__ import annotations

import warnings
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chmcnn.datasets import gaf, obo
from chmcnn.datasets.dataset import Table
from chmcnn.datasets.reading import read_features
from chmcnn.errors import DatasetError, OntologyError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pandas as pd

    from chmcnn.datasets.obo import Ontology


def annotate(  # noqa: PLR0913 -- all but three by name, each with a default
    features: str | Path | pd.DataFrame,
    annotations: str | Path,
    ontology: str | Path | Ontology,
    *,
    id_column: str | int | None = None,
    part_of: bool = False,
    namespace: str | None = None,
    evidence: Collection[str] | None = None,
    least: int = 1,
    categorical: Sequence[str] = (),
    sparse: bool = False,
) -> Table:
    """Join a table of features with a GAF file and an OBO ontology into a training set.

    A row is matched by the id, or else the symbol, or else a synonym of a gene product; a name that stands for several
    products matches none of them, and a warning says so. Annotations with ``NOT`` are left out; alternative and
    replaced ids are brought up to date; terms out of use are left out, and so are rows without any label.

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
        As in `chmcnn.datasets.obo.read`, for an ontology that is a file.
    evidence
        Evidence codes that count, such as `chmcnn.datasets.gaf.EXPERIMENTAL`; all by default.
    least
        Leave out classes that fewer rows have.
    categorical
        As in `chmcnn.datasets.read_table`, for features that are a file.
    sparse
        Whether the label matrix is sparse.
    """
    known = _ontology(ontology, part_of=part_of, namespace=namespace)
    table = _features(features, id_column, categorical)
    label_sets = _label_sets([str(name) for name in table.index], Path(annotations), known, evidence)
    matrix = known.hierarchy.encode_sparse(label_sets)
    frequent = np.asarray(matrix.sum(axis=0)).ravel() >= max(least, 1)
    if not frequent.any():
        most = int(matrix.sum(axis=0).max())
        raise DatasetError(f"No class has {least} rows; the most frequent has {most}.")
    hierarchy = known.hierarchy.restrict([name for name, kept in zip(known.hierarchy, frequent, strict=True) if kept])
    matrix = matrix[:, [known.hierarchy.index(name) for name in hierarchy]]
    labelled = np.flatnonzero(np.asarray(matrix.sum(axis=1)).ravel())
    chosen = matrix[labelled]
    return Table(table.iloc[labelled], chosen if sparse else chosen.toarray(), hierarchy, source=str(annotations))


def _ontology(ontology: str | Path | Ontology, *, part_of: bool, namespace: str | None) -> Ontology:
    if not isinstance(ontology, obo.Ontology):
        return obo.read(ontology, part_of=part_of, namespace=namespace)
    if part_of or namespace is not None:
        raise DatasetError("part_of and namespace are for an ontology that is a file: give them to obo.read.")
    return ontology


def _features(
    features: str | Path | pd.DataFrame, id_column: str | int | None, categorical: Sequence[str]
) -> pd.DataFrame:
    if isinstance(features, str | Path):
        return read_features(features, id_column=0 if id_column is None else id_column, categorical=categorical)
    if categorical:
        raise DatasetError("categorical is for features that are a file: in a DataFrame use astype('category').")
    if id_column is not None and id_column not in features.columns:
        raise DatasetError(
            f"There is no column {id_column!r} in the features, whose columns are {[*features.columns]}."
        )
    named = features if id_column is None else features.set_index(id_column)
    if named.empty or named.index.has_duplicates:
        raise DatasetError("The features have no rows, or a gene twice: each gene needs one row.")
    return named


def _label_sets(
    genes: list[str], path: Path, ontology: Ontology, evidence: Collection[str] | None
) -> list[frozenset[str]]:
    """Terms of each gene, in the order of the genes."""
    products = _products(set(genes), path)
    _refuse_evidence(evidence, path)
    wanted = set(products.values())
    terms: defaultdict[str, set[str]] = defaultdict(set)
    for annotation in gaf.read(path):
        if (
            annotation.id not in wanted
            or annotation.negated
            or not (evidence is None or annotation.evidence in evidence)
        ):
            continue
        try:
            term = ontology.current(annotation.term)
        except OntologyError as error:
            raise OntologyError(error.problem, path, annotation.line, 5) from None
        if term is not None:
            terms[annotation.id].add(term)
    if not terms:
        raise DatasetError(
            f"None of the {len(products)} genes that {path} has in common with the features has an annotation that "
            "counts: ask for more evidence codes or namespaces."
        )
    return [frozenset(terms.get(products.get(gene, ""), ())) for gene in genes]


def _products(genes: set[str], path: Path) -> dict[str, str]:
    """The gene product that each gene name stands for: an id goes before a symbol, and that before a synonym."""
    meanings: tuple[defaultdict[str, set[str]], ...] = (defaultdict(set), defaultdict(set), defaultdict(set))
    example = "nothing"
    for annotation in gaf.read(path):
        example = annotation.id
        for found, names in zip(meanings, ((annotation.id,), (annotation.symbol,), annotation.synonyms), strict=True):
            for name in genes.intersection(names):
                found[name].add(annotation.id)
    ids, symbols, synonyms = meanings
    meant = {name: products for name, products in (synonyms | symbols | ids).items() if name}
    if not meant:
        raise DatasetError(
            f"No gene of the features is in {path}: the first one is {min(genes)!r}, however the annotations name "
            f"{example!r}. Name the column of gene names with id_column."
        )
    unclear = sorted(name for name, products in meant.items() if len(products) > 1)
    if unclear:
        warnings.warn(
            f"{len(unclear)} genes are left out: their names stand for several gene products of {path}. The first is "
            f"{unclear[0]!r}: {', '.join(sorted(meant[unclear[0]])[:3])}.",
            stacklevel=4,
        )
    return {name: next(iter(products)) for name, products in meant.items() if len(products) == 1}


def _refuse_evidence(evidence: Collection[str] | None, path: Path) -> None:
    if isinstance(evidence, str):
        raise DatasetError(f"evidence is {evidence!r}; expected a set of codes, such as {{{evidence!r}}}.")
    if evidence is None:
        return
    there = {annotation.evidence for annotation in gaf.read(path)}
    if not there & set(evidence):
        raise DatasetError(f"{path} has none of the evidence codes {sorted(evidence)}; it has {sorted(there)}.")

"""`annotate`: a training set from gene annotations, an ontology and a table of features."""

from __future__ import annotations

import warnings
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chmcnn import _wording
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

    A row is matched by the id, the symbol or a synonym of a gene product, in this order; a name of several products
    matches none of them, with a warning. Alternative and replaced ids of terms are updated. Annotations with ``NOT``,
    obsolete terms and rows without labels are omitted.

    Parameters
    ----------
    features
        A file with a column of gene names, or a DataFrame with gene names as the index.
    annotations
        The GAF file.
    ontology
        The OBO file, or the result of `chmcnn.datasets.obo.read`.
    id_column
        Column of gene names; by default the first one.
    part_of, namespace
        As in `chmcnn.datasets.obo.read`, if the ontology is a file.
    evidence
        Evidence codes to use, such as `chmcnn.datasets.gaf.EXPERIMENTAL`; by default all.
    least
        Minimum number of rows per class; classes with fewer are omitted.
    categorical
        As in `chmcnn.datasets.read_table`, if the features are a file.
    sparse
        Whether the label matrix is sparse.
    """
    terms = _read_ontology(ontology, part_of=part_of, namespace=namespace)
    table = _read_features(features, id_column, categorical)
    label_sets = _label_sets([str(name) for name in table.index], Path(annotations), terms, evidence)
    matrix = terms.hierarchy.encode_sparse(label_sets)
    frequent = np.asarray(matrix.sum(axis=0)).ravel() >= max(least, 1)
    if not frequent.any():
        most = int(matrix.sum(axis=0).max())
        raise DatasetError(f"No class has {least} rows; the most frequent one has {most}. Use a smaller least=.")
    hierarchy = terms.hierarchy.restrict([name for name, keep in zip(terms.hierarchy, frequent, strict=True) if keep])
    matrix = matrix[:, [terms.hierarchy.index(name) for name in hierarchy]]
    labelled = np.flatnonzero(np.asarray(matrix.sum(axis=1)).ravel())
    labels = matrix[labelled]
    return Table(table.iloc[labelled], labels if sparse else labels.toarray(), hierarchy, source=str(annotations))


def _read_ontology(ontology: str | Path | Ontology, *, part_of: bool, namespace: str | None) -> Ontology:
    if not isinstance(ontology, obo.Ontology):
        return obo.read(ontology, part_of=part_of, namespace=namespace)
    if part_of or namespace is not None:
        raise DatasetError("part_of and namespace apply only to an ontology file: pass them to obo.read.")
    return ontology


def _read_features(
    features: str | Path | pd.DataFrame, id_column: str | int | None, categorical: Sequence[str]
) -> pd.DataFrame:
    if isinstance(features, str | Path):
        return read_features(features, id_column=0 if id_column is None else id_column, categorical=categorical)
    if categorical:
        raise DatasetError("categorical applies only to a file of features: in a DataFrame, use astype('category').")
    if id_column is not None and id_column not in features.columns:
        raise DatasetError(
            f"There is no column {id_column!r} in the features, whose columns are {[*features.columns]}."
        )
    named = features if id_column is None else features.set_index(id_column)
    if named.empty or named.index.has_duplicates:
        raise DatasetError("The features have no rows, or a gene twice; expected one row for each gene.")
    return named


def _label_sets(
    genes: list[str], path: Path, ontology: Ontology, evidence: Collection[str] | None
) -> list[frozenset[str]]:
    """Return the terms of each gene, in the order of the genes."""
    products = _match_genes(set(genes), path)
    _refuse_evidence(evidence, path)
    matched = set(products.values())
    terms: defaultdict[str, set[str]] = defaultdict(set)
    for annotation in gaf.read(path):
        if (
            annotation.id not in matched
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
            f"{path} has {_wording.count(len(products), 'gene')} of the features, but none with a usable "
            "annotation: use more evidence codes or namespaces."
        )
    return [frozenset(terms.get(products.get(gene, ""), ())) for gene in genes]


def _match_genes(genes: set[str], path: Path) -> dict[str, str]:
    """Return the gene product of each gene name, matched by id, then symbol, then synonym."""
    meanings: tuple[defaultdict[str, set[str]], ...] = (defaultdict(set), defaultdict(set), defaultdict(set))
    example = "nothing"
    for annotation in gaf.read(path):
        example = annotation.id
        for products, names in zip(
            meanings, ((annotation.id,), (annotation.symbol,), annotation.synonyms), strict=True
        ):
            for name in genes.intersection(names):
                products[name].add(annotation.id)
    ids, symbols, synonyms = meanings
    matches = {name: products for name, products in (synonyms | symbols | ids).items() if name}
    if not matches:
        raise DatasetError(
            f"No gene of the features is in {path}: the features have {min(genes)!r}, say, but the annotations "
            f"{example!r}. Name the column of gene names with id_column=."
        )
    ambiguous = sorted(name for name, products in matches.items() if len(products) > 1)
    if ambiguous:
        warnings.warn(
            f"{_wording.count(len(ambiguous), 'gene')} omitted: the names match several gene products of {path}. "
            f"The first is {ambiguous[0]!r}: {', '.join(sorted(matches[ambiguous[0]])[:3])}.",
            stacklevel=4,
        )
    return {name: next(iter(products)) for name, products in matches.items() if len(products) == 1}


def _refuse_evidence(evidence: Collection[str] | None, path: Path) -> None:
    if isinstance(evidence, str):
        raise DatasetError(f"evidence is {evidence!r}; expected a set of evidence codes, such as {{{evidence!r}}}.")
    if evidence is None:
        return
    codes = {annotation.evidence for annotation in gaf.read(path)}
    if not codes & set(evidence):
        raise DatasetError(f"{path} has none of the evidence codes {sorted(evidence)}; it has {sorted(codes)}.")

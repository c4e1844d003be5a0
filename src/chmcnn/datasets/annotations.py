"""`annotate`: a training set from gene annotations, an ontology and a table of features."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from chmcnn._io import text
from chmcnn.datasets import annotation_terms, obo
from chmcnn.datasets.dataset import Table
from chmcnn.datasets.formats import read_hierarchy
from chmcnn.datasets.reading import read_features
from chmcnn.errors import DatasetError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import pandas as pd
    from scipy import sparse

    from chmcnn.datasets.annotation_summary import AnnotationSummary
    from chmcnn.datasets.obo import Ontology


_OTHER_HIERARCHIES = {".csv", ".tsv", ".json", ".ttl", ".nt", ".arff"}
"""Endings of hierarchies that are not OBO files."""


def annotate(  # noqa: PLR0913 -- all but three by name, each with a default
    features: str | Path | pd.DataFrame,
    annotations: str | Path,
    ontology: str | Path | Ontology | Hierarchy,
    *,
    id_column: str | int | None = None,
    part_of: bool = False,
    namespace: str | None = None,
    evidence: Collection[str] | None = None,
    unknown: Literal["error", "skip"] = "error",
    least: int = 1,
    hierarchy: Hierarchy | None = None,
    categorical: Sequence[str] = (),
    notify: Callable[[AnnotationSummary], object] | None = None,
) -> Table:
    """Join a table of features with a file of annotations and an ontology into a training set.

    A row is matched by the id, the symbol or a synonym of a gene product, in this order; a name of several products
    matches none of them. Alternative and replaced ids of terms are updated. Annotations with ``NOT``, obsolete terms
    and rows without labels are omitted.

    Parameters
    ----------
    features
        A file with a column of gene names, or a DataFrame with gene names as the index.
    annotations
        A GAF file; or a table, ``.csv`` or ``.tsv``, whose first two columns are genes and terms, and whose column
        ``evidence``, if there is one, has evidence codes.
    ontology
        An OBO file or another one that `chmcnn.datasets.read_hierarchy` reads, the result of
        `chmcnn.datasets.obo.read`, or a hierarchy.
    id_column
        Column of gene names; by default the first one.
    part_of, namespace
        As in `chmcnn.datasets.obo.read`, if the ontology is an OBO file.
    evidence
        Evidence codes to use, such as `chmcnn.datasets.gaf.EXPERIMENTAL`, or names of
        `chmcnn.datasets.gaf.EVIDENCE_GROUPS`; by default all.
    unknown
        What to do about annotations of terms that the ontology does not have: raise an error, or skip them.
    least
        Minimum number of rows per class; classes with fewer are omitted.
    hierarchy
        The classes of a model, to evaluate it: each label becomes those of its ancestors that the model has.
    categorical
        As in `chmcnn.datasets.read_table`, if the features are a file.
    notify
        A function that gets the `AnnotationSummary`, such as ``print``. Without it, gene names of several products
        give a warning.
    """
    if unknown not in {"error", "skip"}:
        raise DatasetError(f"unknown is {unknown!r}; expected 'error' or 'skip'.")
    terms = _read_ontology(ontology, part_of=part_of, namespace=namespace)
    table = _read_features(features, id_column, categorical)
    genes = annotation_terms.match_genes([str(name) for name in table.index], Path(annotations))
    if genes.ambiguous and notify is None:
        warnings.warn(genes.describe_ambiguous(), stacklevel=2)
    codes = annotation_terms.check_evidence(evidence, genes)
    found = annotation_terms.find_terms(genes, terms, codes, skip=unknown == "skip")
    everything = terms.hierarchy.encode_sparse([found.terms.get(product, ()) for product in genes.by_row])
    classes = _frequent(everything, terms, least) if hierarchy is None else _same_classes(hierarchy, terms, least)
    matrix = everything[:, [terms.hierarchy.index(name) for name in classes]]
    labelled = np.flatnonzero(np.asarray(matrix.sum(axis=1)).ravel())
    if not len(labelled):
        raise DatasetError(f"No gene of the features has a class of the model in {annotations}.")
    if notify is not None:
        seen = int(np.count_nonzero(np.asarray(everything.sum(axis=0))))
        rare = 0 if hierarchy is not None else seen - len(classes)
        notify(replace(found.summary(genes), labelled=len(labelled), classes=len(classes), rare=rare))
    return Table(table.iloc[labelled], matrix[labelled], classes, source=str(annotations))


def _read_ontology(ontology: str | Path | Ontology | Hierarchy, *, part_of: bool, namespace: str | None) -> Ontology:
    is_obo = isinstance(ontology, str | Path) and text.ending(Path(ontology)) not in _OTHER_HIERARCHIES
    if isinstance(ontology, str | Path) and is_obo:
        return obo.read(ontology, part_of=part_of, namespace=namespace)
    if part_of or namespace is not None:
        raise DatasetError("part_of and namespace apply only to an ontology file: pass them to obo.read.")
    if isinstance(ontology, str | Path):
        ontology = read_hierarchy(ontology)
    return obo.Ontology.of(ontology) if isinstance(ontology, Hierarchy) else ontology


def _read_features(
    features: str | Path | pd.DataFrame, id_column: str | int | None, categorical: Sequence[str]
) -> pd.DataFrame:
    if isinstance(features, str | Path):
        table: pd.DataFrame = read_features(
            features, id_column=0 if id_column is None else id_column, categorical=categorical
        )
        return table
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


def _frequent(matrix: sparse.csr_array, ontology: Ontology, least: int) -> Hierarchy:
    """Return the classes that have enough rows: with a class, its ancestors have enough too."""
    rows = np.asarray(matrix.sum(axis=0)).ravel()
    frequent = rows >= max(least, 1)
    if not frequent.any():
        raise DatasetError(
            f"No class has {least} rows; the most frequent one has {int(rows.max())}. Use a smaller least=."
        )
    names = ontology.hierarchy.classes
    return ontology.hierarchy.restrict([names[position] for position in np.flatnonzero(frequent).tolist()])


def _same_classes(hierarchy: Hierarchy, ontology: Ontology, least: int) -> Hierarchy:
    """Return the classes of a model; raise an error if the ontology is not that of its training."""
    if least > 1:
        raise DatasetError("least and hierarchy exclude each other: the classes of the model are fixed.")
    solution = "Use the ontology of the training, with the same part_of=."
    for name in hierarchy:
        if name not in ontology.hierarchy:
            raise DatasetError(f"The ontology has no class {name!r}, but the model has it. {solution}")
    if set(_named_edges(hierarchy)) != set(_named_edges(ontology.hierarchy.restrict(hierarchy.classes))):
        raise DatasetError(f"The ontology has other edges between the classes of the model. {solution}")
    return hierarchy


def _named_edges(hierarchy: Hierarchy) -> list[tuple[str, str]]:
    names = hierarchy.classes
    return [(names[parent], names[child]) for parent, child in hierarchy.edges.tolist()]

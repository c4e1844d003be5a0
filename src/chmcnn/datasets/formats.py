"""File formats by their endings: what reads a table, and what reads a hierarchy, from a file of each.

A new format gets a module with its reader, and a line in `FORMATS`; every function and command then reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn._io import text
from chmcnn.datasets import arff, delimited, obo, parquet, parquet_folder, skos, sparse_tables
from chmcnn.datasets.raw_table import DeclaredLabels, RawTable
from chmcnn.errors import FileError, HierarchyError, TableError
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


@dataclass(frozen=True, slots=True)
class HierarchyOptions:
    """Arguments of `chmcnn.datasets.read_hierarchy`, each for one of the formats."""

    part_of: bool = False
    namespace: str | None = None
    parent: str = "parent"
    child: str = "child"
    title: str | None = None
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Format:
    """The readers of a format: None for what its files do not contain."""

    read_table: Callable[[Path, str | None], RawTable] | None = None
    read_hierarchy: Callable[[Path, HierarchyOptions], Hierarchy] | None = None


def _delimited(default: str) -> Format:
    def read_table(path: Path, delimiter: str | None) -> RawTable:
        return delimited.read(path, default if delimiter is None else delimiter)

    def read_hierarchy(path: Path, options: HierarchyOptions) -> Hierarchy:
        return Hierarchy.from_csv(
            path, parent=options.parent, child=options.child, title=options.title, delimiter=default
        )

    return Format(read_table, read_hierarchy)


def _read_arff(path: Path, delimiter: str | None) -> RawTable:
    if delimiter is not None:
        raise TableError("the file is ARFF: delimiter= does not apply", path)
    content = arff.read(path)
    return RawTable(path, content.features, declared=DeclaredLabels(content.labels, content.hierarchy))


def _read_obo(path: Path, options: HierarchyOptions) -> Hierarchy:
    return obo.read(path, part_of=options.part_of, namespace=options.namespace).hierarchy


_SKOS = Format(read_hierarchy=lambda path, options: skos.read(path, language=options.language))
_CSV, _TSV = _delimited(","), _delimited("\t")
_PARQUET = Format(read_table=lambda path, _: parquet.read(path))
_SVMLIGHT = Format(read_table=lambda path, _: sparse_tables.read_svmlight(path))

FORMATS = {
    ".csv": _CSV,
    ".tsv": _TSV,
    ".txt": _TSV,
    ".tab": _TSV,
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".svm": _SVMLIGHT,
    ".svmlight": _SVMLIGHT,
    ".libsvm": _SVMLIGHT,
    ".npz": Format(read_table=lambda path, _: sparse_tables.read_npz(path)),
    ".arff": Format(_read_arff, lambda path, _: arff.read_hierarchy(path)),
    ".obo": Format(read_hierarchy=_read_obo),
    ".json": Format(read_hierarchy=lambda path, _: Hierarchy.from_json("".join(text.lines(path)))),
    ".ttl": _SKOS,
    ".nt": _SKOS,
}
"""The format of each ending; ``.gz`` after it does not count."""

_TO_TURTLE = ". Convert RDF to Turtle with rdfpipe, which comes with rdflib: rdfpipe -o turtle my.rdf > my.ttl"
_CONVERT = {
    ".rdf": _TO_TURTLE,
    ".jsonld": _TO_TURTLE,
    ".owl": ". Use the OBO file of the ontology, or convert it with robot: robot convert -i my.owl -o my.obo",
}
"""How to get a file that can be read from one that cannot."""


def read_raw_table(path: Path, delimiter: str | None, needed: Collection[str] | None = None) -> RawTable:
    """Read a table by its ending, or as delimited text if there is a delimiter; a folder has Parquet files.

    If only some columns are needed, others of a Parquet file may have any type.
    """
    if path.is_dir():
        return parquet_folder.read(path)
    if not path.is_file():
        raise TableError("the file does not exist", path)
    read = FORMATS.get(text.ending(path), Format()).read_table
    if read is None and delimiter is not None:
        return delimited.read(path, delimiter)
    if read is None:
        endings = ", ".join(ending for ending, known in FORMATS.items() if known.read_table)
        raise TableError(f"unknown ending {text.ending(path)!r}; expected one of {endings}, or a delimiter", path)
    return parquet.read(path, needed) if read is _PARQUET.read_table else read(path, delimiter)


def read_hierarchy(
    path: str | Path,
    *,
    part_of: bool = False,
    namespace: str | None = None,
    parent: str = "parent",
    child: str = "child",
    title: str | None = None,
    language: str = "en",
) -> Hierarchy:
    """Read a hierarchy from a file; its ending, before an optional ``.gz``, says what it is.

    Parameters
    ----------
    path
        ``.csv`` or ``.tsv``: edges, in two columns, and titles. ``.json``: written by `Hierarchy.to_json`. ``.obo``: an
        ontology. ``.ttl`` or ``.nt``: a SKOS vocabulary in Turtle or N-Triples. ``.arff``: a hierarchical ARFF file.
    part_of, namespace
        Whether the parts in an ontology are below their wholes too; the namespace of its terms, by default all.
    parent, child, title
        Names of the columns of a table of edges. By default the titles of the children are in the column ``title`` or
        ``name``, if there is one.
    language
        Language of the titles of a vocabulary; a concept without a label in it has one of another language.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise FileError("the file of the hierarchy does not exist", file)
    read = FORMATS.get(text.ending(file), Format()).read_hierarchy
    if read is None:
        endings = ", ".join(ending for ending, known in FORMATS.items() if known.read_hierarchy)
        hint = _CONVERT.get(text.ending(file), "")
        raise FileError(f"unknown ending {text.ending(file)!r}; expected one of {endings}{hint}", file)
    try:
        return read(file, HierarchyOptions(part_of, namespace, parent, child, title, language))
    except HierarchyError as error:
        raise FileError(str(error).removeprefix(f"{file}, ").removeprefix(f"{file}: "), file) from None

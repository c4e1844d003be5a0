"""Data: the benchmark, tables and ontologies of the user, synthetic problems, and a data set in the package.

`formats` has the file formats, one line for each; `reading` turns a file into features (`feature_columns`) and labels
(`label_columns`); `row_groups` reads files that do not fit into memory; `registry` loads data sets by name, which
`catalogue` lists and `download` fetches.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chmcnn.datasets import arff, gaf, obo, skos, synthetic
    from chmcnn.datasets.annotation_summary import AnnotationSummary
    from chmcnn.datasets.annotations import annotate
    from chmcnn.datasets.cafa_files import read_information, read_known
    from chmcnn.datasets.catalogue import names
    from chmcnn.datasets.dataset import Dataset, Table, split
    from chmcnn.datasets.formats import read_hierarchy
    from chmcnn.datasets.preprocessing import Preprocessor
    from chmcnn.datasets.reading import read_features, read_table
    from chmcnn.datasets.registry import load
    from chmcnn.datasets.row_groups import RowGroups
    from chmcnn.datasets.stratification import stratify

__all__ = [
    "AnnotationSummary",
    "Dataset",
    "Preprocessor",
    "RowGroups",
    "Table",
    "annotate",
    "arff",
    "gaf",
    "load",
    "names",
    "obo",
    "read_features",
    "read_hierarchy",
    "read_information",
    "read_known",
    "read_table",
    "skos",
    "split",
    "stratify",
    "synthetic",
]

_HOME = {
    "AnnotationSummary": "annotation_summary",
    "Dataset": "dataset",
    "Preprocessor": "preprocessing",
    "RowGroups": "row_groups",
    "Table": "dataset",
    "annotate": "annotations",
    "load": "registry",
    "names": "catalogue",
    "read_features": "reading",
    "read_hierarchy": "formats",
    "read_information": "cafa_files",
    "read_known": "cafa_files",
    "read_table": "reading",
    "split": "dataset",
    "stratify": "stratification",
}


def __getattr__(name: str) -> object:
    """Import a name on first use: `names` needs no pandas."""
    if name in _HOME:
        return getattr(import_module(f"chmcnn.datasets.{_HOME[name]}"), name)
    if name in __all__:
        return import_module(f"chmcnn.datasets.{name}")
    raise AttributeError(f"module 'chmcnn.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

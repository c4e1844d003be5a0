"""Data: the benchmark's sets, the user's own tables and ontologies, synthetic problems, and a set in the package."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chmcnn.datasets.annotations import annotate
    from chmcnn.datasets.dataset import Dataset, Table, split
    from chmcnn.datasets.hierarchies import read_hierarchy
    from chmcnn.datasets.preprocessing import Preprocessor
    from chmcnn.datasets.registry import load, names
    from chmcnn.datasets.table import read_features, read_table

__all__ = [
    "Dataset",
    "Preprocessor",
    "Table",
    "annotate",
    "load",
    "names",
    "read_features",
    "read_hierarchy",
    "read_table",
    "split",
]

_HOME = {
    "Dataset": "dataset",
    "Preprocessor": "preprocessing",
    "Table": "dataset",
    "annotate": "annotations",
    "load": "registry",
    "names": "registry",
    "read_features": "table",
    "read_hierarchy": "hierarchies",
    "read_table": "table",
    "split": "dataset",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- any of the names above
    """Import what is asked for when it is: the hierarchy alone needs no pandas."""
    if name in _HOME:
        return getattr(import_module(f"chmcnn.datasets.{_HOME[name]}"), name)
    raise AttributeError(f"module 'chmcnn.datasets' has no attribute {name!r}")

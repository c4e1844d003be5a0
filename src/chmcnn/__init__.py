"""Hierarchical multi-label classification whose predictions never contradict the hierarchy."""

from importlib import import_module
from types import ModuleType

from chmcnn.errors import (
    ArffError,
    ChmcnnError,
    DatasetError,
    DownloadError,
    FeatureError,
    FileError,
    HierarchyError,
    LabelError,
    OntologyError,
    ScoreError,
    TableError,
)
from chmcnn.hierarchy import Hierarchy

__version__ = "0.1.0"
__all__ = [
    "ArffError",
    "ChmcnnError",
    "DatasetError",
    "DownloadError",
    "FeatureError",
    "FileError",
    "Hierarchy",
    "HierarchyError",
    "LabelError",
    "OntologyError",
    "ScoreError",
    "TableError",
]

_MODULES = ("constraint", "datasets", "metrics", "nn")


def __getattr__(name: str) -> ModuleType:
    """Import a module when it is first asked for: ``import chmcnn`` alone is quick."""
    if name in _MODULES:
        return import_module(f"chmcnn.{name}")
    raise AttributeError(f"module 'chmcnn' has no attribute {name!r}")

"""Hierarchical multi-label classification whose predictions never contradict the hierarchy."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chmcnn.errors import (
    ArffError,
    ChmcnnError,
    DatasetError,
    DownloadError,
    FeatureError,
    FileError,
    HierarchyError,
    LabelError,
    ModelError,
    OntologyError,
    ScoreError,
    TableError,
)
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from chmcnn.classifier import CHMCNNClassifier

__version__ = "0.1.0"
__all__ = [
    "ArffError",
    "CHMCNNClassifier",
    "ChmcnnError",
    "DatasetError",
    "DownloadError",
    "FeatureError",
    "FileError",
    "Hierarchy",
    "HierarchyError",
    "LabelError",
    "ModelError",
    "OntologyError",
    "ScoreError",
    "TableError",
]

_MODULES = (
    "baselines",
    "comparison",
    "constraint",
    "datasets",
    "evaluation",
    "experiments",
    "metrics",
    "nn",
    "report",
    "search",
    "significance",
    "training",
)


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- a module or the classifier
    """Import what is heavy when it is first asked for: ``import chmcnn`` alone is quick."""
    if name in _MODULES:
        return import_module(f"chmcnn.{name}")
    if name == "CHMCNNClassifier":
        return import_module("chmcnn.classifier").CHMCNNClassifier
    raise AttributeError(f"module 'chmcnn' has no attribute {name!r}")

"""Hierarchical multi-label classification whose predictions never contradict the hierarchy."""

from importlib import import_module
from typing import TYPE_CHECKING

from chmcnn._version import __version__
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
    from types import ModuleType

    from chmcnn.classifier import CHMCNNClassifier

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
    "__version__",
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


def __getattr__(name: str) -> "ModuleType | type[CHMCNNClassifier]":
    """Import heavy modules on first use: ``import chmcnn`` alone is quick."""
    if name in _MODULES:
        return import_module(f"chmcnn.{name}")
    if name == "CHMCNNClassifier":
        from chmcnn.classifier import CHMCNNClassifier

        return CHMCNNClassifier
    raise AttributeError(f"module 'chmcnn' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the names that are imported on first use, too."""
    return sorted({*globals(), *__all__, *_MODULES})

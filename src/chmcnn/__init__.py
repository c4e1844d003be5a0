"""Hierarchical multi-label classification whose predictions never contradict the hierarchy."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chmcnn._version import __version__
from chmcnn.errors import (
    ArffError,
    CheckpointError,
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

if TYPE_CHECKING:
    from chmcnn.classifier import CHMCNNClassifier
    from chmcnn.ensemble import CoherentEnsemble, load_model
    from chmcnn.estimator import sign_model
    from chmcnn.hierarchy import Hierarchy

__all__ = [
    "ArffError",
    "CHMCNNClassifier",
    "CheckpointError",
    "ChmcnnError",
    "CoherentEnsemble",
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
    "load_model",
    "sign_model",
]

_MODULES = (
    "baselines",
    "cluster",
    "comparison",
    "constraint",
    "datasets",
    "ensemble",
    "evaluation",
    "experiments",
    "hierarchy",
    "metrics",
    "nn",
    "report",
    "search",
    "significance",
    "training",
)
_NAMES = {
    "CHMCNNClassifier": "classifier",
    "CoherentEnsemble": "ensemble",
    "Hierarchy": "hierarchy",
    "load_model": "ensemble",
    "sign_model": "estimator",
}
"""Names, and the modules that they are imported from."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- modules, classes and functions
    """Import heavy modules on first use: ``import chmcnn`` alone is quick."""
    if name in _MODULES:
        return import_module(f"chmcnn.{name}")
    if name in _NAMES:
        return getattr(import_module(f"chmcnn.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'chmcnn' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the names that are imported on first use, too."""
    return sorted({*globals(), *__all__, *_MODULES})

"""Hierarchical multi-label classification whose predictions never contradict the hierarchy."""

from chmcnn.errors import ArffError, ChmcnnError, HierarchyError, LabelError, ScoreError
from chmcnn.hierarchy import Hierarchy

__version__ = "0.1.0"
__all__ = ["ArffError", "ChmcnnError", "Hierarchy", "HierarchyError", "LabelError", "ScoreError"]

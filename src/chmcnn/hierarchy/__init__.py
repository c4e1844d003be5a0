"""Hierarchies of classes, and labels of any form as matrices of their classes."""

from chmcnn.hierarchy._hierarchy import Hierarchy
from chmcnn.hierarchy._labels import (
    hierarchy_from_labels,
    hierarchy_from_paths,
    label_matrix,
    trim_path,
)
from chmcnn.hierarchy._matrices import Violations

__all__ = [
    "Hierarchy",
    "Violations",
    "hierarchy_from_labels",
    "hierarchy_from_paths",
    "label_matrix",
    "trim_path",
]

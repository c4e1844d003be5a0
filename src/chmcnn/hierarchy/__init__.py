"""Hierarchies of classes, and labels of any form as matrices of their classes."""

from chmcnn.hierarchy._best_path import follow_best_path
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
    "follow_best_path",
    "hierarchy_from_labels",
    "hierarchy_from_paths",
    "label_matrix",
    "trim_path",
]

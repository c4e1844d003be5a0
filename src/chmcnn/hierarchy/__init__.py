"""Hierarchies of classes: an immutable, validated DAG of named classes."""

from chmcnn.hierarchy._hierarchy import Hierarchy
from chmcnn.hierarchy._matrices import Violations

__all__ = ["Hierarchy", "Violations"]

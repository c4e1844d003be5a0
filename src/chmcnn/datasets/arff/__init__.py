"""Hierarchical ARFF, the format of the benchmarks: a table whose class attribute declares a hierarchy."""

from chmcnn.datasets.arff.header import Attribute, Header, read_hierarchy
from chmcnn.datasets.arff.reader import Arff, read
from chmcnn.datasets.arff.writer import write

__all__ = ["Arff", "Attribute", "Header", "read", "read_hierarchy", "write"]

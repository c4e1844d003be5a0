"""Names for arguments that take many types, which no annotation could list: each is checked when it is used."""

from typing import Any, TypeAlias

Features: TypeAlias = Any
"""Rows of features: an array, a sparse matrix, a DataFrame, a list, texts, or a torch Dataset or DataLoader."""
LabelsLike: TypeAlias = Any
"""Labels of rows: label sets, names, paths, or a 0/1 matrix, dense, sparse or a DataFrame."""
ScoresLike: TypeAlias = Any
"""Scores of rows: a matrix (rows, classes) of numbers, dense, sparse, a tensor or a DataFrame."""
Transformer: TypeAlias = Any
"""A transformer or pipeline of scikit-learn, which has no type hints."""
JSONValue: TypeAlias = Any
"""What JSON can hold."""

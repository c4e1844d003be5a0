"""`Table` and `Dataset`: rows with their labels, and the parts that a model is trained, chosen and tested on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pandas as pd
from scipy import sparse

from chmcnn import _wording
from chmcnn.errors import DatasetError
from chmcnn.hierarchy import Hierarchy, label_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import LabelsLike

Features: TypeAlias = pd.DataFrame | np.ndarray | sparse.csr_array
Labels: TypeAlias = np.ndarray | sparse.csr_array

ROOTS = frozenset(
    {"root", *(f"GO{mark}{number}" for mark in ("", ":") for number in ("0003674", "0005575", "0008150"))}
)
"""Classes that every row has, or nearly: they are in the hierarchy, but the field leaves them out of every measure."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Table:
    """Rows of features with their labels. It never changes: arrays are read-only, and ``X`` gives a new DataFrame.

    Parameters
    ----------
    X
        Features (rows, features): a DataFrame of numbers and categories, an array, or a sparse matrix. An array or a
        sparse matrix is not copied: leave it alone afterwards.
    Y
        Labels in any form that `chmcnn.hierarchy.label_matrix` takes, such as label sets, names, or a 0/1 matrix
        (rows, classes) in the order of ``hierarchy.classes``. Ancestors are added.
    hierarchy
        The classes.
    source
        Where the rows come from, for messages.
    verified
        False for a file that stands in for one of the benchmark's own; it shows in everything computed from it.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> table = Table(np.eye(3), [{"a/b"}, {"a"}, {"c"}], Hierarchy.from_paths(["a/b", "c"]))
    >>> table
    Table(3 rows, 3 features, 3 classes)
    >>> table.Y.astype(int)
    array([[1, 1, 0],
           [1, 0, 0],
           [0, 0, 1]])
    """

    hierarchy: Hierarchy
    source: str
    verified: bool
    _features: Features = field(repr=False)
    _labels: Labels = field(repr=False)

    def __init__(
        self,
        X: pd.DataFrame | ArrayLike | sparse.sparray,
        Y: LabelsLike,
        hierarchy: Hierarchy,
        source: str = "",
        *,
        verified: bool = True,
    ) -> None:
        if not isinstance(hierarchy, Hierarchy):
            raise DatasetError(f"hierarchy is {hierarchy!r}; expected a Hierarchy, such as Hierarchy.from_edges makes.")
        features = _as_features(X)
        labels = _as_labels(Y, hierarchy, features)
        if features.shape[0] != labels.shape[0]:
            raise DatasetError(f"X has {_wording.count(features.shape[0], 'row')}, however Y has {labels.shape[0]:,}.")
        values = {"hierarchy": hierarchy, "source": source, "verified": verified}
        values |= {"_features": features, "_labels": labels}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def X(self) -> Any:  # noqa: ANN401, N802 -- one of three types, which the user knows
        """Features: a DataFrame, an array or a sparse matrix (rows, features)."""
        return self._features.copy(deep=False) if isinstance(self._features, pd.DataFrame) else _fresh(self._features)

    @property
    def Y(self) -> Any:  # noqa: ANN401, N802
        """Labels with all their ancestors: a boolean matrix (rows, classes), dense or sparse."""
        return _fresh(self._labels)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of a DataFrame; otherwise their numbers."""
        if isinstance(self._features, pd.DataFrame):
            return tuple(str(name) for name in self._features.columns)
        return tuple(f"x{number}" for number in range(self._features.shape[1]))

    def take(self, rows: ArrayLike) -> Table:
        """The rows at those positions, in that order."""
        at = np.asarray(rows, dtype=np.int64)
        features = self._features.iloc[at] if isinstance(self._features, pd.DataFrame) else self._features[at]
        return Table(features, self._labels[at], self.hierarchy, self.source, verified=self.verified)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by what defines it, so that copies do not change either."""
        return _table, (self._features, self._labels, self.hierarchy, self.source, self.verified)

    def __len__(self) -> int:
        """Count the rows."""
        return int(self._features.shape[0])

    def __repr__(self) -> str:
        """Show the size."""
        counts = (
            _wording.count(len(self), "row"),
            _wording.count(self._features.shape[1], "feature"),
            _wording.count(len(self.hierarchy), "class"),
        )
        return f"Table({', '.join(counts)}{'' if self.verified else ', not verified'})"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Three tables with the same features and classes: to train on, to choose with, and to test on.

    Parameters
    ----------
    name
        What to call it in tables and pictures.
    train, valid, test
        The tables.
    evaluated
        Which classes count in losses and measures (classes,); by default all but the roots ``ROOTS`` of the field's
        benchmarks.
    """

    name: str
    train: Table
    valid: Table
    test: Table
    evaluated: NDArray[np.bool_] = None  # type: ignore[assignment]  # set below

    def __post_init__(self) -> None:
        """Check that the parts fit together."""
        for name, part in self.parts.items():
            if not isinstance(part, Table):
                raise DatasetError(
                    f"{name} is of type {type(part).__name__}; expected a Table: Table(X, Y, hierarchy)."
                )
        for part in (self.valid, self.test):
            _refuse_other_columns(self.train, part)
            _refuse_other_classes(self.train, part)
        classes = self.hierarchy.classes
        evaluated = np.array([name not in ROOTS for name in classes] if self.evaluated is None else self.evaluated)
        if evaluated.shape != (len(classes),) or evaluated.dtype != np.bool_:
            raise DatasetError(
                f"evaluated has shape {evaluated.shape} and type {evaluated.dtype}; expected ({len(classes)},) and "
                "bool, one for each class."
            )
        evaluated.setflags(write=False)
        object.__setattr__(self, "evaluated", evaluated)

    @property
    def hierarchy(self) -> Hierarchy:
        """The classes, the same for all parts."""
        return self.train.hierarchy

    @property
    def parts(self) -> Mapping[str, Table]:
        """The three tables by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}

    @property
    def unverified(self) -> tuple[str, ...]:
        """Files that were named by the user in place of the benchmark's own."""
        return tuple(part.source for part in self.parts.values() if not part.verified)

    @property
    def title(self) -> str:
        """The name, marked where a file is not the benchmark's own: what everything computed from it is called."""
        return f"{self.name} (not verified)" if self.unverified else self.name

    def __repr__(self) -> str:
        """Show the size."""
        rows = " + ".join(f"{len(part):,}" for part in self.parts.values())
        features = _wording.count(len(self.train.feature_names), "feature")
        return f"Dataset({self.title}: {rows} rows, {features}, {self.hierarchy!r})"


def split(table: Table, *shares: float, seed: int = 0) -> tuple[Table, ...]:
    """Divide the rows at random into parts of the given shares, which add up to 1.

    Rows keep their order inside a part. The same seed gives the same parts.

    >>> from chmcnn import Hierarchy
    >>> table = Table(np.eye(10), [{"a"}] * 10, Hierarchy.from_paths(["a"]))
    >>> split(table, 0.7, 0.3)
    (Table(7 rows, 10 features, 1 class), Table(3 rows, 10 features, 1 class))
    """
    if (
        not shares
        or not all(isinstance(share, float | int) and share > 0 for share in shares)
        or not math.isclose(sum(shares), 1)
    ):
        raise DatasetError(f"The shares are {shares}; expected positive numbers that add up to 1, such as 0.7 and 0.3.")
    ends = [0, *np.rint(np.cumsum(shares) * len(table)).astype(int).tolist()]
    if any(start == end for start, end in pairwise(ends)):
        rows = _wording.count(len(table), "row")
        raise DatasetError(f"{rows} cannot be divided into shares of {shares}: a part would be empty.")
    order = np.random.default_rng(seed).permutation(len(table))
    return tuple(table.take(np.sort(order[start:end])) for start, end in pairwise(ends))


def _as_features(given: Any) -> Features:  # noqa: ANN401 -- whatever a user has
    if isinstance(given, pd.DataFrame):
        if given.columns.has_duplicates:
            twice = given.columns[given.columns.duplicated()][0]
            raise DatasetError(f"Column {twice!r} of X is there twice; rename one of them.")
        return given.copy(deep=False)
    if isinstance(given, sparse.sparray | sparse.spmatrix):
        return _frozen(cast("Any", sparse.csr_array)(given))
    matrix = np.asarray(given).view()
    if matrix.ndim != 2:
        raise DatasetError(f"X has shape {matrix.shape}; expected (rows, features).")
    matrix.setflags(write=False)
    return matrix


def _table(features: Any, labels: Any, hierarchy: Hierarchy, source: str, verified: bool) -> Table:  # noqa: ANN401, FBT001
    return Table(features, labels, hierarchy, source, verified=verified)


def _as_labels(labels: LabelsLike, hierarchy: Hierarchy, features: Features) -> Labels:
    if (
        isinstance(labels, pd.DataFrame)
        and isinstance(features, pd.DataFrame)
        and not labels.index.equals(features.index)
    ):
        raise DatasetError("X and Y have different row names, or another order of rows; give both the same index.")
    matrix = label_matrix(labels, hierarchy)
    if not isinstance(matrix, np.ndarray):
        return _frozen(matrix)
    matrix.setflags(write=False)
    return matrix


def _frozen(matrix: sparse.csr_array) -> sparse.csr_array:
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    frozen = _shell(matrix)
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.setflags(write=False)
    return frozen


def _fresh(matrix: Labels) -> Labels:
    """A new array around the same memory, which cannot be written to."""
    return matrix.view() if isinstance(matrix, np.ndarray) else _shell(matrix)


def _shell(matrix: sparse.csr_array) -> sparse.csr_array:
    parts = tuple(part.view() for part in (matrix.data, matrix.indices, matrix.indptr))
    shell = sparse.csr_array(parts, shape=matrix.shape)
    shell.has_canonical_format = True
    return shell


def _refuse_other_columns(train: Table, other: Table) -> None:
    if isinstance(train._features, sparse.csr_array) != isinstance(other._features, sparse.csr_array):  # noqa: SLF001
        raise DatasetError("One part has sparse features, another dense ones; make them alike.")
    expected, found = train.feature_names, other.feature_names
    if expected == found:
        _refuse_other_kinds(train, other)
        return
    place = f"{other.source or 'Another part'} has other columns than {train.source or 'the training part'}"
    missing = [name for name in expected if name not in set(found)]
    added = [name for name in found if name not in set(expected)]
    details = [f"it has no {missing[0]!r}" if missing else "", f"{added[0]!r} is new" if added else ""]
    differences = len(missing) + len(added)
    more = f" ({differences} differences in all)" if differences > 2 else ""
    what = " and ".join(filter(None, details)) or "they are the same in another order"
    raise DatasetError(f"{place}: {what}{more}. All parts need the same columns, in the same order.")


def _refuse_other_kinds(train: Table, other: Table) -> None:
    """Numbers in one part and categories in another: one of the files was not read as it was meant."""
    first, second = train.X, other.X
    if not (isinstance(first, pd.DataFrame) and isinstance(second, pd.DataFrame)):
        return
    for name in first.columns:
        kinds = [pd.api.types.is_numeric_dtype(part[name].dtype) for part in (first, second)]
        if kinds[0] != kinds[1] and second[name].notna().any() and first[name].notna().any():
            words = ["numbers" if kind else "categories" for kind in kinds]
            raise DatasetError(
                f"Column {name!r} has {words[0]} in {train.source or 'the training part'}, however {words[1]} in "
                f"{other.source or 'another part'}; name it in categorical when reading both."
            )


def _refuse_other_classes(train: Table, other: Table) -> None:
    if train.hierarchy == other.hierarchy:
        return
    place = f"{other.source or 'Another part'} has other classes than {train.source or 'the training part'}"
    differing = sorted(set(train.hierarchy) ^ set(other.hierarchy))
    what = f"{differing[0]!r} is only in one of them" if differing else "they have other edges, or another order"
    raise DatasetError(f"{place}: {what}. Read all parts with one hierarchy.")

"""`Table` and `Dataset`: rows with their labels, and the parts for training, validation and test."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pandas as pd
from scipy import sparse

from chmcnn import _wording
from chmcnn._sparse import refuse_damaged
from chmcnn.datasets.columns import list_kinds
from chmcnn.datasets.stratification import stratify
from chmcnn.datasets.texts import as_column, is_list_of_texts
from chmcnn.errors import DatasetError
from chmcnn.hierarchy import Hierarchy, label_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from chmcnn._typing import Features, LabelsLike

TableFeatures: TypeAlias = pd.DataFrame | np.ndarray | sparse.csr_array


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Table:
    """Rows of features with their labels. It is immutable: arrays are read-only, and ``X`` is a new DataFrame.

    Parameters
    ----------
    X
        Features (rows, features): a DataFrame of numbers, categories, dates and text, an array, a sparse matrix, or a
        list of texts. An array or a sparse matrix is not copied: do not change it afterwards.
    Y
        Labels in any form that `chmcnn.hierarchy.label_matrix` takes, such as label sets, names, or a 0/1 matrix
        (rows, classes) in the order of ``hierarchy.classes``. Ancestors are added.
    hierarchy
        The classes.
    source
        Origin of the rows, for messages.
    verified
        False for a file that replaces one of the benchmark; all results computed from it say so.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> table = Table(np.eye(3), [{"a/b"}, {"a"}, {"c"}], Hierarchy.from_paths(["a/b", "c"]))
    >>> table
    Table(3 rows, 3 features, 3 classes)
    >>> table.Y.toarray().astype(int)
    array([[1, 1, 0],
           [1, 0, 0],
           [0, 0, 1]])
    """

    hierarchy: Hierarchy
    source: str
    verified: bool
    _features: TableFeatures = field(repr=False)
    _labels: sparse.csr_array = field(repr=False)

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
            raise DatasetError(f"hierarchy is {hierarchy!r}; expected a Hierarchy, such as Hierarchy.from_edges(...).")
        features = _as_features(X)
        labels = _as_labels(Y, hierarchy, features)
        if features.shape[0] != labels.shape[0]:
            raise DatasetError(f"X has {_wording.count(features.shape[0], 'row')}, but Y has {labels.shape[0]:,}.")
        values = {"hierarchy": hierarchy, "source": source, "verified": verified}
        values |= {"_features": features, "_labels": labels}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def X(self) -> Features:  # noqa: N802 -- the name in scikit-learn
        """Features: a DataFrame, an array or a sparse matrix (rows, features)."""
        return self._features.copy(deep=False) if isinstance(self._features, pd.DataFrame) else _view(self._features)

    @property
    def Y(self) -> sparse.csr_array:  # noqa: N802 -- the name in scikit-learn
        """Labels with all their ancestors: a sparse boolean matrix (rows, classes)."""
        return _copy_shell(self._labels)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of a DataFrame; otherwise their numbers."""
        if isinstance(self._features, pd.DataFrame):
            return tuple(str(name) for name in self._features.columns)
        return tuple(f"x{number}" for number in range(self._features.shape[1]))

    def take(self, rows: ArrayLike) -> Table:
        """Return the rows at those positions, in that order."""
        positions = np.asarray(rows, dtype=np.int64)
        features = (
            self._features.iloc[positions] if isinstance(self._features, pd.DataFrame) else self._features[positions]
        )
        return Table(features, self._labels[positions], self.hierarchy, self.source, verified=self.verified)

    def to_csv(self, path: str | Path, *, labels: str = "labels", separator: str = ";", force: bool = False) -> None:
        """Write features, ids and labels to a text file that `chmcnn.datasets.read_table` reads.

        Read it with the hierarchy of the table, ``id_column=`` if rows have names, ``categorical=`` for columns of
        categories that look like numbers, and ``text=`` for columns of text. The most specific classes of each row are
        written.

        Parameters
        ----------
        path
            The file: ``.csv``, or ``.tsv`` for tabs, plain or with ``.gz``.
        labels
            Name of the column of labels.
        separator
            Separator between labels.
        force
            Overwrite an existing file.

        Examples
        --------
        >>> import tempfile; from pathlib import Path; from chmcnn import Hierarchy, datasets
        >>> table = Table(np.eye(2), [{"a/b"}, {"a", "c"}], Hierarchy.from_paths(["a/b", "c"]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.to_csv(Path(folder, "mine.csv"))
        ...     print(Path(folder, "mine.csv").read_text())
        ...     again = datasets.read_table(Path(folder, "mine.csv"), table.hierarchy)
        x0,x1,labels
        1.0,0.0,a/b
        0.0,1.0,a;c
        <BLANKLINE>
        >>> (again.Y != table.Y).nnz
        0
        """
        from chmcnn.datasets.writing import write_csv

        write_csv(self, Path(path), labels=labels, separator=separator, force=force)

    def to_parquet(self, path: str | Path, *, labels: str = "labels", force: bool = False) -> None:
        """Write features, ids and labels to a Parquet file that `chmcnn.datasets.read_table` reads.

        It keeps categories, and has labels as lists; the parameters are those of `to_csv`.
        """
        from chmcnn.datasets.writing import write_parquet

        write_parquet(self, Path(path), labels=labels, force=force)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the arguments, so that copies are immutable too."""
        arguments = (self._features, self._labels, self.hierarchy, self.source)
        return partial(Table, verified=self.verified), arguments

    def __len__(self) -> int:
        """Return the number of rows."""
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
    """Three tables with the same features and classes: for training, validation and test.

    Parameters
    ----------
    name
        Name in tables and plots.
    train, valid, test
        The tables.
    evaluated
        Which classes count in losses and measures (classes,); by default all. The data sets of the benchmark leave out
        their artificial roots.
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
        evaluated = np.ones(len(classes), dtype=np.bool_) if self.evaluated is None else np.array(self.evaluated)
        if evaluated.shape != (len(classes),) or evaluated.dtype != np.bool_:
            raise DatasetError(
                f"evaluated has shape {evaluated.shape} and type {evaluated.dtype}; expected ({len(classes)},) and "
                "bool, one for each class."
            )
        evaluated.setflags(write=False)
        object.__setattr__(self, "evaluated", evaluated)

    @property
    def hierarchy(self) -> Hierarchy:
        """The classes of all parts."""
        return self.train.hierarchy

    @property
    def parts(self) -> Mapping[str, Table]:
        """The three tables by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}

    @property
    def unverified(self) -> tuple[str, ...]:
        """Files of the user that replace those of the benchmark."""
        return tuple(part.source for part in self.parts.values() if not part.verified)

    @property
    def title(self) -> str:
        """The name, marked if a file is not that of the benchmark; results use it."""
        return f"{self.name} (not verified)" if self.unverified else self.name

    def __repr__(self) -> str:
        """Show the size."""
        rows = " + ".join(f"{len(part):,}" for part in self.parts.values())
        features = _wording.count(len(self.train.feature_names), "feature")
        return f"Dataset({self.title}: {rows} rows, {features}, {self.hierarchy!r})"


def split(table: Table, *shares: float, seed: int = 0, stratified: bool = True) -> tuple[Table, ...]:
    """Split the rows into parts of the given shares, which add up to 1.

    Rows keep their order in each part. The same seed gives the same parts.

    Parameters
    ----------
    table
        The rows.
    shares
        Share of each part.
    seed
        Decides which rows come where.
    stratified
        Whether every class has the same share of its rows in a part, as far as possible: see `stratify`. A class with
        few rows has them in the largest part. Otherwise rows are drawn at random.

    Examples
    --------
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
        raise DatasetError(f"{rows} cannot be split into shares of {shares}: a part would be empty.")
    if stratified:
        return tuple(map(table.take, stratify(table.Y, np.diff(ends).tolist(), seed)))
    order = np.random.default_rng(seed).permutation(len(table))
    return tuple(table.take(np.sort(order[start:end])) for start, end in pairwise(ends))


def _as_features(features: Features) -> TableFeatures:
    if isinstance(features, pd.DataFrame):
        if features.columns.has_duplicates:
            duplicate = features.columns[features.columns.duplicated()][0]
            raise DatasetError(f"X has two columns {duplicate!r}; rename one of them.")
        return features.copy(deep=False)
    if isinstance(features, sparse.sparray | sparse.spmatrix):
        refuse_damaged(features, "X", DatasetError)
        return _freeze(cast("Any", sparse.csr_array)(features))
    if is_list_of_texts(features):
        return as_column(features)
    matrix = np.asarray(features).view()
    if matrix.ndim != 2:
        raise DatasetError(f"X has shape {matrix.shape}; expected (rows, features).")
    matrix.setflags(write=False)
    return matrix


def _as_labels(labels: LabelsLike, hierarchy: Hierarchy, features: TableFeatures) -> sparse.csr_array:
    if (
        isinstance(labels, pd.DataFrame)
        and isinstance(features, pd.DataFrame)
        and not labels.index.equals(features.index)
    ):
        raise DatasetError("X and Y have different indexes; use the same index, in the same order, for both.")
    return _freeze(label_matrix(labels, hierarchy))


def _freeze(matrix: sparse.csr_array) -> sparse.csr_array:
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    frozen = _copy_shell(matrix)
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.setflags(write=False)
    return frozen


def _view(matrix: np.ndarray | sparse.csr_array) -> np.ndarray | sparse.csr_array:
    """Return a new read-only array on the same memory."""
    return matrix.view() if isinstance(matrix, np.ndarray) else _copy_shell(matrix)


def _copy_shell(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a new sparse matrix on the same memory."""
    parts = tuple(part.view() for part in (matrix.data, matrix.indices, matrix.indptr))
    shell = sparse.csr_array(parts, shape=matrix.shape)
    shell.has_canonical_format = True
    return shell


def _refuse_other_columns(train: Table, other: Table) -> None:
    if isinstance(train._features, sparse.csr_array) != isinstance(other._features, sparse.csr_array):  # noqa: SLF001
        raise DatasetError("One part has sparse features, another part dense ones; convert one of them.")
    expected, actual = train.feature_names, other.feature_names
    if expected == actual:
        _refuse_other_kinds(train, other)
        return
    place = f"{other.source or 'Another part'} has different columns than {train.source or 'the training part'}"
    missing = [name for name in expected if name not in set(actual)]
    added = [name for name in actual if name not in set(expected)]
    details = [f"it has no {missing[0]!r}" if missing else "", f"it adds {added[0]!r}" if added else ""]
    differences = len(missing) + len(added)
    more = f" ({differences} differences in all)" if differences > 2 else ""
    what = " and ".join(filter(None, details)) or "their order differs"
    raise DatasetError(f"{place}: {what}{more}. All parts need the same columns, in the same order.")


def _refuse_other_kinds(train: Table, other: Table) -> None:
    """Raise an error for a column with numbers in one part and categories in another, or other kinds."""
    first, second = train.X, other.X
    if not (isinstance(first, pd.DataFrame) and isinstance(second, pd.DataFrame)):
        return
    kinds = list_kinds(first), list_kinds(second)
    for name in first.columns:
        words = [part[str(name)] for part in kinds]
        if "numbers" not in words and any(part[name].dtype in (object, "str") for part in (first, second)):
            continue  # strings of no declared kind: training decides
        if words[0] != words[1] and second[name].notna().any() and first[name].notna().any():
            raise DatasetError(
                f"Column {name!r} has {words[0]} in {train.source or 'the training part'}, but {words[1]} in "
                f"{other.source or 'another part'}; name it in categorical= or text= when you read both."
            )


def _refuse_other_classes(train: Table, other: Table) -> None:
    if train.hierarchy == other.hierarchy:
        return
    place = f"{other.source or 'Another part'} has different classes than {train.source or 'the training part'}"
    differing = sorted(set(train.hierarchy) ^ set(other.hierarchy))
    what = f"only one of them has {differing[0]!r}" if differing else "their edges or their order differ"
    raise DatasetError(f"{place}: {what}. Read all parts with the same hierarchy.")

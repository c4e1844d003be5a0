"""`Preprocessor`: features to numbers for a network, as a scikit-learn transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted, validate_data

from chmcnn._sparse import refuse_damaged
from chmcnn.datasets.columns import (
    KINDS,
    Categories,
    Column,
    Numbers,
    Texts,
    choose_scales,
    encode_numbers,
    has_text,
    learn_column,
    list_order,
    list_sources,
    list_unscaled,
)
from chmcnn.datasets.texts import as_column, is_list_of_texts
from chmcnn.errors import FeatureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import Tags

    from chmcnn._typing import Features


class _Encoded(NamedTuple):
    """Encoded features before imputation and scaling: columns of a table, and sparse ones; one of them may be None."""

    table: NDArray[np.float64] | None
    matrix: sparse.csr_array | None


class Preprocessor(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """One-hot encoding, TF-IDF, mean imputation and standardisation.

    A column of categories becomes one column of 0 and 1 for each category; a missing or unseen category is all zeros. A
    date becomes three numbers: days since 1970, month and weekday. A missing number becomes the mean of its column.
    Then each column is shifted to mean 0 and scaled to standard deviation 1. A sparse matrix stays sparse: it is not
    shifted, and scaled so that its rows have length 1 on average.

    Running text becomes the TF-IDF of its words, of pairs of words, and of the first and last four letters of longer
    words, and the result is sparse, in single precision: the columns of numbers, dates and categories, then those of
    each text. Categories and TF-IDF are then not scaled, and all numbers of a row together have a mean square of 1, as
    the words of a text have: so the embedding of a text can be columns beside it. A column of strings has text if its
    type is ``"string"``, or if it has three words a cell on average, and too many different texts for categories;
    otherwise it has categories, as a column of type ``"category"`` always has.

    Parameters
    ----------
    standardise
        Whether to shift and scale.

    Attributes
    ----------
    columns_ : list
        The kind of each column, with its categories or words.
    categories_ : list of (tuple of str or None)
        The categories of each column; None for a column of any other kind.
    means_, scales_ : arrays
        Mean and scale of each column of the result.
    sparse_ : bool
        Whether the result is sparse.

    Examples
    --------
    >>> table = pd.DataFrame({"size": [1.0, np.nan, 3.0], "kind": pd.Categorical(["a", None, "b"])})
    >>> preprocessor = Preprocessor(standardise=False).fit(table)
    >>> preprocessor.transform(table)
    array([[1., 1., 0.],
           [2., 0., 0.],
           [3., 0., 1.]])
    >>> preprocessor.get_feature_names_out()
    array(['size', 'kind=a', 'kind=b'], dtype=object)
    >>> Preprocessor().fit_transform(["red hat", "blue hat"]).shape
    (2, 5)
    """

    columns_: list[Column]

    def __init__(self, *, standardise: bool = True) -> None:
        self.standardise = standardise

    def fit(self, X: Features, y: object = None) -> Self:  # noqa: ARG002 -- scikit-learn's signature
        """Learn categories, words, means and deviations."""
        table, matrix = self._encode(X, first=True)
        self.sparse_ = matrix is not None
        means, scales = [], []
        if table is not None:
            means.append(compute_means(self, *add_up(table)))
            fill(table, means[0])
            ones = np.ones(table.shape[1])
            scales.append(choose_scales(self._deviations(table), self.columns_) if self.standardise else ones)
        if matrix is not None and has_text(self.columns_):
            means.append(np.zeros(matrix.shape[1]))
            scales.append(np.ones(matrix.shape[1]))
        elif matrix is not None:
            means.append(compute_means(self, *add_up(matrix)))
            fill(matrix, means[0])
            scales.append(scale_sparse_matrix(matrix) if self.standardise else np.ones(matrix.shape[1]))
        self.means_, self.scales_ = np.concatenate(means), np.concatenate(scales)
        return self

    def transform(self, X: Features) -> Features:
        """Turn features into finite numbers (rows, columns): sparse for text and for a sparse matrix."""
        check_is_fitted(self)
        table, matrix = self._encode(X, first=False)
        if (matrix is not None) != self.sparse_:
            words = ("dense", "sparse") if self.sparse_ else ("sparse", "dense")
            raise FeatureError(f"X is {words[0]}, but was {words[1]} in fit; convert it to {words[1]}.")
        size = 0 if table is None else table.shape[1]
        if table is not None:
            fill(table, self.means_[:size])
            if self.standardise:
                with np.errstate(over="ignore"):  # what becomes infinite is refused by name where it is used
                    table -= self.shifts_[:size]
                    table /= self.scales_[:size]
        if matrix is None:
            return table
        if not has_text(self.columns_):
            fill(matrix, self.means_)
            return sparse.csr_array(matrix.multiply(1 / self.scales_))
        return matrix if table is None else sparse.hstack([self._narrow(table), matrix], format="csr")

    def _deviations(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the standard deviations of the columns; 0 for a constant column."""
        from sklearn.preprocessing import StandardScaler

        with np.errstate(over="ignore", invalid="ignore"):
            scaler = StandardScaler().fit(table)
        _refuse_overflow(self, scaler.var_, "variance")
        return np.where(is_constant(scaler), 0.0, scaler.scale_)

    def _narrow(self, table: NDArray[np.float64]) -> sparse.csr_array:
        refuse_too_large(table, self.get_feature_names_out)
        return sparse.csr_array(table.astype(np.float32))

    @property
    def categories_(self) -> list[tuple[str, ...] | None]:
        """The categories of each column; None for a column of any other kind."""
        return [column.names if isinstance(column, Categories) else None for column in self.columns_]

    @property
    def shifts_(self) -> NDArray[np.float64]:
        """What is subtracted from each column of the result: its mean, or 0 where zeros stay zeros."""
        if not self.standardise or (self.sparse_ and not has_text(self.columns_)):
            return np.zeros_like(self.means_)
        shifts = self.means_.copy()
        shifts[list_unscaled(self.columns_)] = 0
        return shifts

    @property
    def sources_(self) -> NDArray[np.int64]:
        """The position of the column of X that each column of the result comes from."""
        return list_sources(self.columns_)

    def list_kinds(self) -> dict[str, str]:
        """Return the kind of each named column of X: numbers, categories, dates or text."""
        names = getattr(self, "feature_names_in_", ())
        return {str(name): KINDS[type(column)] for name, column in zip(names, self.columns_, strict=False)}

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the columns of the result: ``name``, ``name=category`` or ``name: word``."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array(
            [
                name
                for position in list_order(self.columns_)
                for name in self.columns_[position].get_names(names[position])
            ],
            dtype=object,
        )

    def __sklearn_tags__(self) -> Tags:
        """Declare that missing values and sparse matrices are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _encode(self, features: Features, *, first: bool) -> _Encoded:
        """Return new arrays, with NaN for missing numbers."""
        try:
            return self._check_and_encode(features, first=first)
        except FeatureError:
            raise
        except ValueError as error:
            raise FeatureError(f"{error}{'' if first else self._describe_choice(features)}") from None

    def _describe_choice(self, features: Features) -> str:
        """Return how to choose the columns of `fit`, if a table has all of them, and others or in another order."""
        known = list(getattr(self, "feature_names_in_", ()))
        if not isinstance(features, pd.DataFrame) or not features.columns.is_unique or list(features.columns) == known:
            return ""
        return "Pass X[list(model.feature_names_in_)]." if known and {*known} <= {*features.columns} else ""

    def _check_and_encode(self, features: Features, *, first: bool) -> _Encoded:
        if is_list_of_texts(features):
            return self._encode_texts(as_column(features), first=first)
        if isinstance(features, pd.DataFrame):
            validate_data(self, features, reset=first, skip_check_array=True)
            check_array(np.empty(features.shape, dtype=np.bool_), estimator=self)  # their message about empty data
            if first:
                self.columns_ = [learn_column(features[name]) for name in features.columns]
            return self._encode_columns(features, first=first)
        if not first and any(not isinstance(column, Numbers) for column in self.columns_):
            kinds = sorted({KINDS[type(column)] for column in self.columns_} - {KINDS[Numbers]})
            form = "list of texts" if not hasattr(self, "feature_names_in_") else "DataFrame with the same columns"
            raise FeatureError(f"X had columns of {' and '.join(kinds)} in fit; pass a {form}.")
        refuse_damaged(features, "X", FeatureError)
        matrix = validate_data(
            self, features, reset=first, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan", copy=True
        )
        if first:
            self.columns_ = [Numbers()] * matrix.shape[1]
        return _Encoded(matrix, None) if isinstance(matrix, np.ndarray) else _Encoded(None, matrix)

    def _encode_texts(self, table: pd.DataFrame, *, first: bool) -> _Encoded:
        """Encode a list of texts, for which columns have no names."""
        if first:
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = 1
            self.columns_ = [learn_column(table["text"])]
        if len(self.columns_) != 1 or not isinstance(self.columns_[0], Texts):
            names = ", ".join(map(repr, getattr(self, "feature_names_in_", ()))) or f"{self.n_features_in_} numbers"
            raise FeatureError(f"X is a list of texts, but in fit it had the columns {names}; pass the same columns.")
        return self._encode_columns(table, first=first)

    def _encode_columns(self, table: pd.DataFrame, *, first: bool) -> _Encoded:
        """Encode a table; in fit, texts are zeros, as their scale does not depend on them."""
        are_numbers = all(isinstance(column, Numbers) for column in self.columns_)
        if are_numbers and (numbers := encode_numbers(table)) is not None:
            return _Encoded(numbers, None)
        blocks: list[NDArray[np.float64]] = []
        texts: list[sparse.csr_array] = []
        for position, column in enumerate(self.columns_):
            cells = table.iloc[:, position]
            if not isinstance(column, Texts):
                blocks.append(column.encode(cells))
            elif first:
                texts.append(sparse.csr_array(([], ([], [])), shape=(len(table), column.width)))
            else:
                texts.append(column.encode(cells))
        return _Encoded(
            np.concatenate(blocks, axis=1) if blocks else None, sparse.hstack(texts, format="csr") if texts else None
        )


def refuse_too_large(matrix: NDArray[np.float64] | sparse.csr_array, names: Callable[[], Iterable[str]]) -> None:
    """Refuse values that single precision does not have, by the name of the first column with one.

    >>> refuse_too_large(np.array([[1, 2], [3, 1e39]]), lambda: ["length", "weight"])
    Traceback (most recent call last):
    ...
    chmcnn.errors.FeatureError: X has a value in 'weight' beyond the range of single precision; scale it down.
    """
    values = matrix.data if isinstance(matrix, sparse.csr_array) else matrix
    limit = np.finfo(np.float32).max
    if values.size and not (values.max() <= limit and values.min() >= -limit):  # also of NaN, and without a copy
        at = int((~(np.abs(values) <= limit)).argmax())
        column = matrix.indices[at] if isinstance(matrix, sparse.csr_array) else at % matrix.shape[1]
        name = list(names())[column]
        raise FeatureError(f"X has a value in {name!r} beyond the range of single precision; scale it down.")


def add_up(matrix: NDArray[np.float64] | sparse.csr_array) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the sums of the columns, and the number of values in each, both without missing values."""
    with np.errstate(over="ignore", invalid="ignore"):  # `compute_means` refuses what overflows
        if sparse.issparse(matrix):
            sums = np.asarray(leave_out_missing(matrix).sum(axis=0)).ravel()
            missing = np.bincount(matrix.indices[np.isnan(matrix.data)], minlength=matrix.shape[1])
        else:
            sums, missing = np.nansum(matrix, axis=0), np.isnan(matrix).sum(axis=0)
    return sums.astype(np.float64), matrix.shape[0] - missing


def compute_means(
    preprocessor: Preprocessor, sums: NDArray[np.float64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the means of the first columns of the result: 0 for one without values."""
    means: NDArray[np.float64] = sums / np.maximum(counts, 1)
    _refuse_overflow(preprocessor, means, "mean")
    return means


def _refuse_overflow(preprocessor: Preprocessor, numbers: NDArray[np.float64], what: str) -> None:
    """Refuse the first of the columns of the result whose number is not finite."""
    for at in np.flatnonzero(~np.isfinite(numbers))[:1]:
        name = preprocessor.get_feature_names_out()[at]
        raise FeatureError(f"The values of {name!r} are too large: their {what} overflows; scale them down.")


def leave_out_missing(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix with zeros for missing values."""
    return sparse.csr_array((np.nan_to_num(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)


def fill(matrix: NDArray[np.float64] | sparse.csr_array, means: NDArray[np.float64]) -> None:
    """Replace missing values by the means, in place."""
    if sparse.issparse(matrix):
        missing = np.isnan(matrix.data)
        matrix.data[missing] = means[matrix.indices[missing]]
    else:
        rows, columns = np.nonzero(np.isnan(matrix))
        matrix[rows, columns] = means[columns]


def scale_sparse_matrix(matrix: sparse.csr_array) -> NDArray[np.float64]:
    """Return what each column of a sparse matrix is divided by: rows then have length 1 on average.

    A column with values above 1 is first divided by its largest one. Dividing by standard deviations would enlarge
    rare features, such as rare words, a hundredfold.
    """
    largest = find_largest(matrix)
    lengths = measure_lengths(matrix, largest)
    return largest * (lengths.mean() if len(lengths) else 1)


def find_largest(matrix: sparse.csr_array) -> NDArray[np.float64]:
    """Return the largest absolute value of each column of a sparse matrix, or 1 if it is larger."""
    largest: NDArray[np.float64] = np.maximum(abs(matrix).max(axis=0).toarray().ravel(), 1)
    return largest


def measure_lengths(matrix: sparse.csr_array, scales: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lengths of the rows of a sparse matrix that are not zero, after its columns are scaled."""
    lengths: NDArray[np.float64] = np.sqrt(matrix.multiply(1 / scales).power(2).sum(axis=1))
    return lengths[lengths > 0]


def is_constant(scaler: StandardScaler) -> NDArray[np.bool_]:
    """Return which columns are constant up to rounding, as scikit-learn judges it."""
    constant: NDArray[np.bool_] = (scaler.scale_ == 1.0) & (scaler.var_ != 1.0)
    return constant

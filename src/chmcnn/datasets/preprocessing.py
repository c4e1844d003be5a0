"""From features as they come to numbers that a network can take, as a scikit-learn transformer."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted, validate_data

from chmcnn.errors import FeatureError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags


class Preprocessor(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """One-hot encoding, mean imputation and standardisation, all learnt from the data given to ``fit``.

    A column of categories becomes one column of 0 and 1 for each category; a missing or unseen one is all zeros. A
    missing number becomes the mean of its column. Then each column is shifted to mean 0, and scaled to deviation 1. A
    sparse matrix stays sparse: it is scaled, but not shifted.

    Parameters
    ----------
    standardise
        Whether to shift and scale.

    Attributes
    ----------
    categories_ : list of (tuple of str or None)
        The categories of each column; None for a column of numbers.
    means_, scales_ : arrays
        What is subtracted from, and divides, each column of the result.

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
    """

    def __init__(self, *, standardise: bool = True) -> None:
        self.standardise = standardise

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ANN401, ARG002 -- scikit-learn's signature
        """Learn categories, means and deviations."""
        matrix = self._numbers(X, first=True)
        self.sparse_ = bool(sparse.issparse(matrix))
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            self.means_ = _means(matrix)
        if not np.isfinite(self.means_).all():
            at = int(np.flatnonzero(~np.isfinite(self.means_))[0])
            raise FeatureError(
                f"The values of {self.get_feature_names_out()[at]!r} are too large: their mean overflows."
            )
        self.scales_ = _scales(_fill(matrix, self.means_)) if self.standardise else np.ones_like(self.means_)
        return self

    def transform(self, X: Any) -> Any:  # noqa: ANN401
        """Turn features into finite numbers (rows, columns), dense or, for a sparse matrix, sparse."""
        check_is_fitted(self)
        matrix = _fill(self._numbers(X, first=False), self.means_)
        if bool(sparse.issparse(matrix)) != self.sparse_:
            words = ("dense", "sparse") if self.sparse_ else ("sparse", "dense")
            raise FeatureError(f"X is {words[0]}, however it was {words[1]} at fit: sparse features are not shifted.")
        if sparse.issparse(matrix):
            return sparse.csr_array(matrix.multiply(1 / self.scales_))
        if self.standardise:
            matrix -= self.means_
            matrix /= self.scales_
        return matrix

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Names of the columns of the result: ``name``, or ``name=category``."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array(
            [
                name if category is None else f"{name}={category}"
                for name, categories in zip(names, self.categories_, strict=True)
                for category in ((None,) if categories is None else categories)
            ],
            dtype=object,
        )

    def __sklearn_tags__(self) -> Tags:
        """Say that missing values and sparse matrices are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _numbers(self, given: Any, *, first: bool) -> NDArray[np.float64] | sparse.csr_array:  # noqa: ANN401
        """A new matrix with one-hot columns, and NaN for missing numbers."""
        try:
            return self._checked(given, first=first)
        except FeatureError:
            raise
        except ValueError as error:
            raise FeatureError(str(error)) from None

    def _checked(self, given: Any, *, first: bool) -> NDArray[np.float64] | sparse.csr_array:  # noqa: ANN401
        if isinstance(given, pd.DataFrame):
            validate_data(self, given, reset=first, skip_check_array=True)
            check_array(np.empty(given.shape, dtype=np.bool_), estimator=self)  # no rows or no columns: their message
            if first:
                self.categories_ = [_categories(given[name]) for name in given.columns]
            blocks = [_block(given[name], known) for name, known in zip(given.columns, self.categories_, strict=True)]
            return np.concatenate(blocks, axis=1)
        if not first and any(known is not None for known in self.categories_):
            raise FeatureError("The columns were of categories at fit: give a DataFrame with the same columns.")
        matrix = validate_data(
            self, given, reset=first, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan", copy=True
        )
        if first:
            self.categories_ = [None] * matrix.shape[1]
        checked: NDArray[np.float64] | sparse.csr_array = matrix
        return checked


def _categories(column: pd.Series) -> tuple[str, ...] | None:
    """The categories that a column declares, or else has; None for one of numbers."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        names = tuple(str(category) for category in column.cat.categories)
        if len(set(names)) < len(names):
            raise FeatureError(f"Column {column.name!r} has two categories with the same text: {sorted(names)[:5]}.")
        return names
    if pd.api.types.is_complex_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise FeatureError(f"Column {column.name!r} is of {column.dtype}; make it numbers or categories.")
    if pd.api.types.is_numeric_dtype(column.dtype) or _all_numbers(column):
        return None
    return tuple(sorted({str(value) for value in column.dropna()}))


def _all_numbers(column: pd.Series) -> bool:
    """Whether a column of objects holds nothing but numbers."""
    return all(isinstance(value, numbers.Real) for value in column.dropna())


def _block(column: pd.Series, categories: tuple[str, ...] | None) -> NDArray[np.float64]:
    """The columns (rows, 1 or categories) that a column becomes."""
    if categories is not None:
        if pd.api.types.is_numeric_dtype(column.dtype) and column.notna().any():
            raise FeatureError(
                f"Column {column.name!r} was of categories at fit, however now it is of {column.dtype}: read it as "
                "categories too."
            )
        values = column.astype(object).where(column.notna(), None).map(str, na_action="ignore")
        codes = pd.Index(categories, dtype=object).get_indexer(pd.Index(values, dtype=object))
        one_hot: NDArray[np.bool_] = codes[:, None] == np.arange(len(categories))
        return one_hot.astype(np.float64)
    if not (pd.api.types.is_numeric_dtype(column.dtype) or _all_numbers(column)):
        raise FeatureError(f"Column {column.name!r} was of numbers at fit, however now it is of {column.dtype}.")
    given: NDArray[np.float64] = np.array(column.astype(object).where(column.notna(), np.nan), dtype=np.float64)
    if np.isinf(given).any():
        raise FeatureError(f"Column {column.name!r} has an infinite number in row {int(np.isinf(given).argmax())}.")
    return given[:, None]


def _means(matrix: NDArray[np.float64] | sparse.csr_array) -> NDArray[np.float64]:
    """Means of the columns over what is there; 0 for a column where nothing is."""
    if sparse.issparse(matrix):
        missing = matrix.copy()
        missing.data = np.isnan(missing.data).astype(np.float64)
        there = matrix.shape[0] - np.asarray(missing.sum(axis=0)).ravel()
        known = matrix.copy()
        known.data = np.nan_to_num(known.data)
        total = np.asarray(known.sum(axis=0)).ravel()
    else:
        there = matrix.shape[0] - np.isnan(matrix).sum(axis=0)
        total = np.nansum(matrix, axis=0)
    means: NDArray[np.float64] = total / np.maximum(there, 1)
    return means


def _fill(
    matrix: NDArray[np.float64] | sparse.csr_array, means: NDArray[np.float64]
) -> NDArray[np.float64] | sparse.csr_array:
    """Put the means where values are missing."""
    if sparse.issparse(matrix):
        missing = np.isnan(matrix.data)
        matrix.data[missing] = means[matrix.indices[missing]]
    else:
        rows, columns = np.nonzero(np.isnan(matrix))
        matrix[rows, columns] = means[columns]
    return matrix


def _scales(matrix: NDArray[np.float64] | sparse.csr_array) -> NDArray[np.float64]:
    """Deviations of the columns; 1 for a column that never changes."""
    from sklearn.preprocessing import StandardScaler

    scales: NDArray[np.float64] = StandardScaler(with_mean=not sparse.issparse(matrix)).fit(matrix).scale_
    return scales

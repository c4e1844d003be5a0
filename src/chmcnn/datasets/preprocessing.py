"""`Preprocessor`: features to numbers for a network, as a scikit-learn transformer."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted, validate_data

from chmcnn.errors import FeatureError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from chmcnn._typing import Features


class Preprocessor(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """One-hot encoding, mean imputation and standardisation.

    A column of categories becomes one column of 0 and 1 for each category; a missing or unseen category is all zeros. A
    missing number becomes the mean of its column. Then each column is shifted to mean 0 and scaled to standard
    deviation 1. A sparse matrix stays sparse: it is scaled, but not shifted.

    Parameters
    ----------
    standardise
        Whether to shift and scale.

    Attributes
    ----------
    categories_ : list of (tuple of str or None)
        The categories of each column; None for a column of numbers.
    means_, scales_ : arrays
        Mean and scale of each column of the result.

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

    def fit(self, X: Features, y: object = None) -> Self:  # noqa: ARG002 -- scikit-learn's signature
        """Learn categories, means and deviations."""
        matrix = self._encode(X, first=True)
        self.sparse_ = bool(sparse.issparse(matrix))
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            self.means_ = _means(matrix)
        if not np.isfinite(self.means_).all():
            column = int(np.flatnonzero(~np.isfinite(self.means_))[0])
            raise FeatureError(
                f"The values of {self.get_feature_names_out()[column]!r} are too large: their mean overflows."
            )
        self.scales_ = _scales(_fill(matrix, self.means_)) if self.standardise else np.ones_like(self.means_)
        return self

    def transform(self, X: Features) -> Features:
        """Turn features into finite numbers (rows, columns), dense or, for a sparse matrix, sparse."""
        check_is_fitted(self)
        matrix = _fill(self._encode(X, first=False), self.means_)
        if bool(sparse.issparse(matrix)) != self.sparse_:
            words = ("dense", "sparse") if self.sparse_ else ("sparse", "dense")
            raise FeatureError(f"X is {words[0]}, but was {words[1]} in fit; convert it to {words[1]}.")
        if sparse.issparse(matrix):
            return sparse.csr_array(matrix.multiply(1 / self.scales_))
        if self.standardise:
            matrix -= self.means_
            matrix /= self.scales_
        return matrix

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the columns of the result: ``name``, or ``name=category``."""
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
        """Declare that missing values and sparse matrices are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _encode(self, features: Features, *, first: bool) -> NDArray[np.float64] | sparse.csr_array:
        """Return a new matrix with one-hot columns, and NaN for missing numbers."""
        try:
            return self._check_and_encode(features, first=first)
        except FeatureError:
            raise
        except ValueError as error:
            raise FeatureError(str(error)) from None

    def _check_and_encode(self, features: Features, *, first: bool) -> NDArray[np.float64] | sparse.csr_array:
        if isinstance(features, pd.DataFrame):
            validate_data(self, features, reset=first, skip_check_array=True)
            check_array(np.empty(features.shape, dtype=np.bool_), estimator=self)  # their message about empty data
            if first:
                self.categories_ = [_categories(features[name]) for name in features.columns]
            columns = zip(features.columns, self.categories_, strict=True)
            return np.concatenate([_block(features[name], categories) for name, categories in columns], axis=1)
        if not first and any(categories is not None for categories in self.categories_):
            raise FeatureError("X had columns of categories in fit; pass a DataFrame with the same columns.")
        matrix = validate_data(
            self, features, reset=first, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan", copy=True
        )
        if first:
            self.categories_ = [None] * matrix.shape[1]
        encoded: NDArray[np.float64] | sparse.csr_array = matrix
        return encoded


def _categories(column: pd.Series) -> tuple[str, ...] | None:
    """Return the declared or else the present categories of a column; None for a column of numbers."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        names = tuple(str(category) for category in column.cat.categories)
        if len(set(names)) < len(names):
            raise FeatureError(f"Column {column.name!r} has two categories with the same text: {sorted(names)[:5]}.")
        return names
    if pd.api.types.is_complex_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise FeatureError(f"Column {column.name!r} has type {column.dtype}; convert it to numbers or categories.")
    if pd.api.types.is_numeric_dtype(column.dtype) or _all_numbers(column):
        return None
    return tuple(sorted({str(value) for value in column.dropna()}))


def _all_numbers(column: pd.Series) -> bool:
    """Whether a column of objects has only numbers."""
    return all(isinstance(value, numbers.Real) for value in column.dropna())


def _block(column: pd.Series, categories: tuple[str, ...] | None) -> NDArray[np.float64]:
    """Return the encoded columns (rows, 1 or categories) of a column."""
    if categories is not None:
        if pd.api.types.is_numeric_dtype(column.dtype) and column.notna().any():
            raise FeatureError(
                f"Column {column.name!r} had categories in fit, but now has type {column.dtype}; convert it to "
                "categories."
            )
        texts = column.astype(object).where(column.notna(), None).map(str, na_action="ignore")
        codes = pd.Index(categories, dtype=object).get_indexer(pd.Index(texts, dtype=object))
        one_hot: NDArray[np.bool_] = codes[:, None] == np.arange(len(categories))
        return one_hot.astype(np.float64)
    if not (pd.api.types.is_numeric_dtype(column.dtype) or _all_numbers(column)):
        raise FeatureError(f"Column {column.name!r} had numbers in fit, but now has type {column.dtype}; convert it.")
    values: NDArray[np.float64] = np.array(column.astype(object).where(column.notna(), np.nan), dtype=np.float64)
    if np.isinf(values).any():
        raise FeatureError(f"Column {column.name!r} has an infinite number in row {int(np.isinf(values).argmax())}.")
    return values[:, None]


def _means(matrix: NDArray[np.float64] | sparse.csr_array) -> NDArray[np.float64]:
    """Return the means of the columns without missing values; 0 for an empty column."""
    if sparse.issparse(matrix):
        missing = matrix.copy()
        missing.data = np.isnan(missing.data).astype(np.float64)
        counts = matrix.shape[0] - np.asarray(missing.sum(axis=0)).ravel()
        present = matrix.copy()
        present.data = np.nan_to_num(present.data)
        total = np.asarray(present.sum(axis=0)).ravel()
    else:
        counts = matrix.shape[0] - np.isnan(matrix).sum(axis=0)
        total = np.nansum(matrix, axis=0)
    means: NDArray[np.float64] = total / np.maximum(counts, 1)
    return means


def _fill(
    matrix: NDArray[np.float64] | sparse.csr_array, means: NDArray[np.float64]
) -> NDArray[np.float64] | sparse.csr_array:
    """Replace missing values by the means, in place."""
    if sparse.issparse(matrix):
        missing = np.isnan(matrix.data)
        matrix.data[missing] = means[matrix.indices[missing]]
    else:
        rows, columns = np.nonzero(np.isnan(matrix))
        matrix[rows, columns] = means[columns]
    return matrix


def _scales(matrix: NDArray[np.float64] | sparse.csr_array) -> NDArray[np.float64]:
    """Return the standard deviations of the columns; 1 for a constant column."""
    from sklearn.preprocessing import StandardScaler

    scales: NDArray[np.float64] = StandardScaler(with_mean=not sparse.issparse(matrix)).fit(matrix).scale_
    return scales

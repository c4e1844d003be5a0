"""A scikit-learn transformer of the user in the place of `Preprocessor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from chmcnn.datasets.columns import list_kinds
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.errors import FeatureError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn._typing import Features, Transformer


def is_transformer(value: object) -> bool:
    """Return whether a value has the methods of a scikit-learn transformer."""
    return not isinstance(value, type) and all(callable(getattr(value, name, None)) for name in ("fit", "transform"))


def create_preprocessor(preprocess: bool | Transformer) -> Preprocessor | CustomPreprocessor:  # noqa: FBT001 -- or
    """Return what turns features into numbers, not yet fitted: ours, or a copy of the transformer of the user."""
    if isinstance(preprocess, Preprocessor):
        copy: Preprocessor = clone(preprocess).set_output(transform="default")
        return copy
    return CustomPreprocessor(clone(preprocess)) if is_transformer(preprocess) else Preprocessor(standardise=preprocess)


def describe_error(error: Exception) -> str:
    """Return the first line of the message of an error, or else its type."""
    return next(iter(str(error).splitlines()), type(error).__name__)


class CustomPreprocessor:
    """The transformer of the user, whose result must be finite numbers (rows, columns), dense or sparse.

    Parameters
    ----------
    transformer
        Any scikit-learn transformer or pipeline. It gets X as the user passes it.
    """

    feature_names_in_: NDArray[np.object_]

    def __init__(self, transformer: Transformer) -> None:
        self.transformer_ = transformer

    def fit(self, X: Features, y: object = None) -> Self:
        """Fit the transformer, also to the labels, which most transformers ignore."""
        try:
            self.transformer_.fit(X, y)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise self._refuse("cannot be fitted to X", error) from None
        frame = X if isinstance(X, pd.DataFrame) else None
        self.kinds_ = {} if frame is None else list_kinds(frame)
        self.n_features_in_ = X.shape[1] if getattr(X, "ndim", 1) == 2 else np.asarray(X, dtype=object)[:1].size
        if frame is not None and all(isinstance(name, str) for name in frame.columns):
            self.feature_names_in_ = np.array(frame.columns, dtype=object)
        result = self._transform(X)
        self.sparse_, self.width_ = bool(sparse.issparse(result)), int(result.shape[1])
        return self

    def transform(self, X: Features) -> Features:
        """Return the numbers of the transformer (rows, columns), dense or sparse as in `fit`."""
        result = self._transform(X)
        if result.shape[1] != self.width_:
            raise FeatureError(f"{self._name} gives {result.shape[1]} columns, but gave {self.width_} in fit.")
        if sparse.issparse(result) == self.sparse_:
            return result
        return sparse.csr_array(result) if self.sparse_ else result.toarray()

    def _transform(self, X: Features) -> Features:
        try:
            result = self.transformer_.transform(X)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise self._refuse("cannot transform X", error) from None
        is_sparse = sparse.issparse(result)
        try:
            matrix: Features = np.asarray(result, dtype=np.float64) if not is_sparse else sparse.csr_array(result)
        except (ValueError, TypeError) as error:
            raise self._refuse("gives something other than numbers", error) from None
        if matrix.ndim != 2 or matrix.shape[0] != _num_samples(X) or not matrix.shape[1]:
            raise FeatureError(f"{self._name} gives an array of shape {matrix.shape}; expected (rows, columns).")
        if not np.isfinite(matrix.data if is_sparse else matrix).all():
            raise FeatureError(f"{self._name} gives missing or infinite numbers; add a SimpleImputer to a pipeline.")
        return matrix

    @property
    def sources_(self) -> NDArray[np.int64]:
        """The feature that each column of the result is: itself, as the transformer does not say."""
        return np.arange(self.width_)

    @property
    def means_(self) -> NDArray[np.float64]:
        """What a missing number of the result would become: none is missing."""
        return np.zeros(self.width_)

    @property
    def shifts_(self) -> NDArray[np.float64]:
        """What is subtracted from each column of the result: nothing."""
        return np.zeros(self.width_)

    @property
    def scales_(self) -> NDArray[np.float64]:
        """What each column of the result is divided by: nothing."""
        return np.ones(self.width_)

    def list_kinds(self) -> dict[str, str]:
        """Return the kind of each named column of X: numbers, categories, dates or text."""
        return self.kinds_

    def get_feature_names_out(self) -> NDArray[np.object_]:
        """Return the names of the columns of the result, or their numbers."""
        try:
            return np.asarray(self.transformer_.get_feature_names_out(), dtype=object)
        except (AttributeError, ValueError):  # a transformer that has no names
            return np.array([f"x{number}" for number in range(self.width_)], dtype=object)

    @property
    def _name(self) -> str:
        return f"The transformer {type(self.transformer_).__name__} of preprocess="

    def _refuse(self, problem: str, error: Exception) -> FeatureError:
        return FeatureError(f"{self._name} {problem}: {describe_error(error)}")

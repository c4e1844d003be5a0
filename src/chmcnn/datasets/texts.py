"""Running text: which columns have it, and its TF-IDF."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from scipy import sparse

from chmcnn._io import strict_json
from chmcnn.errors import FeatureError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chmcnn._typing import Features

TEXT: Final = "string"
"""The pandas type of a column that is text without question, as ``"category"`` is that of categories."""
FEW_TEXTS = 100
"""Up to so many different texts may be categories, if each appears in three rows on average."""
_WORDS = 3
"""Average number of words in a cell from which a column is running text."""
_MOST_TERMS = 100_000
"""Words and pairs that are kept: the most frequent ones."""
_ROWS_FOR_PAIRS = 50
"""Rows from which a word must appear in two of them: in fewer rows, most words appear once."""
_TOKEN = r"(?u)\b\w+\b"  # noqa: S105 -- no secret; unlike scikit-learn's it keeps words of one character  # nosec B105


def is_text(column: pd.Series) -> bool:
    """Return whether a column has the type of text, or has running text by its cells."""
    if isinstance(column.dtype, pd.StringDtype) and column.dtype.na_value is pd.NA:
        return True
    return pd.api.types.is_string_dtype(column.dtype) and is_running_text(column.dropna())


def is_running_text(cells: pd.Series) -> bool:
    """Return whether strings are running text: several words each, and too many different ones for categories."""
    if not len(cells) or not all(isinstance(cell, str) for cell in cells):
        return False
    unique = cells.nunique()
    return bool(unique > min(len(cells) / 3, FEW_TEXTS) and cells.map(lambda cell: len(cell.split())).mean() >= _WORDS)


def is_list_of_texts(X: Features) -> bool:
    """Return whether X is a list, a Series or an array of strings, some of them possibly missing."""
    if isinstance(X, pd.Series | np.ndarray):
        if X.ndim != 1 or not (isinstance(X, pd.Series) or X.dtype.kind in "UO"):
            return False
        X = X.tolist()
    if not isinstance(X, list | tuple):
        return False
    strings = [isinstance(text, str) for text in X]
    return any(strings) and all(string or _is_missing(text) for string, text in zip(strings, X, strict=True))


def _is_missing(text: object) -> bool:
    return text is None or text is pd.NA or (isinstance(text, float) and np.isnan(text))


def as_column(texts: Features) -> pd.DataFrame:
    """Return a list of texts as a table with one column."""
    index = texts.index if isinstance(texts, pd.Series) else None
    values = [None if _is_missing(text) else str(text) for text in texts]
    return pd.DataFrame({"text": pd.Series(values, index=index, dtype=TEXT)})


class TextEncoder:
    """TF-IDF of words and pairs of words, as a sparse matrix in single precision.

    A word appears in two rows or more, unless there are few rows; of very many, the most frequent ones are used. A row
    has length 1, or is zero if it has no known word.

    Parameters
    ----------
    terms
        The words and pairs of words, one for each column.
    idf
        The weight of each.

    Examples
    --------
    >>> encoder = TextEncoder.fit(["red shoes", "blue shoes"])
    >>> encoder.terms
    ('blue', 'blue shoes', 'red', 'red shoes', 'shoes')
    >>> encoder.transform(["Shoes!", "unknown"]).toarray()
    array([[0., 0., 0., 0., 1.],
           [0., 0., 0., 0., 0.]], dtype=float32)
    """

    def __init__(self, terms: Sequence[str], idf: NDArray[np.floating]) -> None:
        self.terms, self.idf = tuple(terms), np.asarray(idf, dtype=np.float32)
        if not self.terms or len(set(self.terms)) < len(self.terms) or self.idf.shape != (len(self.terms),):
            raise FeatureError(f"There are {len(self.terms)} terms and {self.idf.size} weights; expected one for each.")
        self._vectorizer = _create_vectorizer(vocabulary={term: at for at, term in enumerate(self.terms)})
        self._vectorizer.idf_ = self.idf

    @classmethod
    def fit(cls, texts: Sequence[str]) -> TextEncoder:
        """Learn the words of texts, and their weights."""
        try:
            fitted = _fit(texts, min_df=2 if len(texts) >= _ROWS_FOR_PAIRS else 1)
        except ValueError:  # no word appears twice, or there is none
            fitted = _fit(texts, min_df=1)
        return cls(fitted.get_feature_names_out().tolist(), fitted.idf_)

    def transform(self, texts: Sequence[str]) -> sparse.csr_array:
        """Return the weights of the words of each text (rows, terms)."""
        return sparse.csr_array(self._vectorizer.transform(texts))

    def to_bytes(self) -> NDArray[np.uint8]:
        """Return the terms as bytes: far smaller and faster than an object for each."""
        return np.frombuffer(json.dumps(self.terms).encode(), dtype=np.uint8)

    @classmethod
    def from_bytes(cls, terms: NDArray[np.uint8], idf: NDArray[np.floating]) -> TextEncoder:
        """Return the encoder from what `to_bytes` gave; raise an error for anything else."""
        names = strict_json.loads(terms.tobytes())
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FeatureError("The terms of a text are not a list of strings.")
        return cls(names, idf)


def _create_vectorizer(**options: Any) -> Any:  # noqa: ANN401 -- scikit-learn has no types
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, dtype=np.float32, token_pattern=_TOKEN, **options)


def _fit(texts: Sequence[str], *, min_df: int) -> Any:  # noqa: ANN401 -- scikit-learn has no types
    return _create_vectorizer(min_df=min_df, max_features=_MOST_TERMS).fit(texts)

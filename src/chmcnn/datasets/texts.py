"""Running text: which columns have it, and its TF-IDF."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from scipy import sparse

from chmcnn._io import strict_json
from chmcnn.errors import FeatureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from chmcnn._typing import Features

TEXT: Final = "string"
"""The pandas type of a column that is text without question, as ``"category"`` is that of categories."""
FEW_TEXTS = 100
"""Up to so many different texts may be categories, if each appears in three rows on average."""
_WORDS = 3
"""Average number of words in a cell from which a column is running text."""
_MOST_TERMS = 100_000
"""Words, pairs and parts that become features: the most frequent ones."""
COUNTED_TERMS = 1_000_000
"""Words, pairs and parts that are counted at once, in each column, if not all texts are in memory."""
_ROWS_FOR_PAIRS = 50
"""Rows from which a word must appear in two of them: in fewer rows, most words appear once."""
_WORD = re.compile(r"\b\w+\b")
"""Unlike scikit-learn's pattern, it keeps words of one character."""
_PART = 4
"""Letters of the beginning and of the end of longer words. `python -m benchmarks.word_parts` compares others."""


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


def split_text(text: str) -> list[str]:
    """Return the words of a text, pairs of words, and how its longer words begin and end.

    Beginnings and ends relate the forms of a word, and words that are composed of the same ones, in any language that
    has letters: no list of words or rules is needed.

    >>> split_text("Red shoes!")
    ['red', 'shoes', 'red shoes', 'shoe-', '-hoes']
    """
    words = _WORD.findall(text.lower())
    longer = [word for word in words if len(word) > _PART]
    return [
        *words,
        *(f"{first} {second}" for first, second in pairwise(words)),
        *(f"{word[:_PART]}-" for word in longer),
        *(f"-{word[-_PART:]}" for word in longer),
    ]


class TextEncoder:
    """TF-IDF of the words of texts, of pairs of words and of parts of words, as a sparse matrix in single precision.

    A term appears in two rows or more, unless there are few rows; of very many, the most frequent ones are used. A row
    has length 1, or is zero if it has no known term.

    Parameters
    ----------
    terms
        What `split_text` returns, one for each column.
    idf
        The weight of each.

    Examples
    --------
    >>> encoder = TextEncoder.fit(["red hat", "blue hat"])
    >>> encoder.terms
    ('blue', 'blue hat', 'hat', 'red', 'red hat')
    >>> encoder.transform(["Hat!", "unknown"]).toarray()
    array([[0., 0., 1., 0., 0.],
           [0., 0., 0., 0., 0.]], dtype=float32)
    """

    def __init__(self, terms: Sequence[str], idf: NDArray[np.floating]) -> None:
        self.terms, self.idf = tuple(terms), np.asarray(idf, dtype=np.float32)
        if not self.terms or len(set(self.terms)) < len(self.terms) or self.idf.shape != (len(self.terms),):
            raise FeatureError(f"There are {len(self.terms)} terms and {self.idf.size} weights; expected one for each.")
        self._vectorizer = _create_vectorizer(self.terms)
        self._vectorizer.idf_ = self.idf

    @classmethod
    def fit(cls, texts: Sequence[str]) -> TextEncoder:
        """Learn the terms of texts, and their weights."""
        counts = TermCounts()
        counts.add(texts)
        return counts.create()

    def transform(self, texts: Sequence[str]) -> sparse.csr_array:
        """Return the weights of the terms of each text (rows, terms)."""
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


def _create_vectorizer(terms: Sequence[str]) -> Any:  # noqa: ANN401 -- scikit-learn has no types
    from sklearn.feature_extraction.text import TfidfVectorizer

    vocabulary = {term: at for at, term in enumerate(terms)}
    return TfidfVectorizer(analyzer=split_text, sublinear_tf=True, dtype=np.float32, vocabulary=vocabulary)


class TermCounts:
    """How often the terms of texts appear in them, where only some texts are in memory at a time.

    Parameters
    ----------
    most
        Most terms to count at once. When there are more, half of them or more are forgotten: those of the fewest rows.
        By default, all are counted.

    Examples
    --------
    >>> counts = TermCounts()
    >>> for texts in (["red hat"], ["blue hat"]):
    ...     counts.add(texts)
    >>> counts.create().terms
    ('blue', 'blue hat', 'hat', 'red', 'red hat')
    """

    def __init__(self, most: int | None = None) -> None:
        self.most, self.texts, self.has_forgotten = most, 0, False
        self._texts: Counter[str] = Counter()  # that have a term
        self._repeats: Counter[str] = Counter()  # appearances of a term in a text beyond the first

    def __len__(self) -> int:
        """Return the number of terms."""
        return len(self._texts)

    def add(self, texts: Iterable[str]) -> None:
        """Count the terms of some texts."""
        for text in texts:
            found = Counter(split_text(text))
            self.texts += 1
            self._texts.update(found.keys())
            self._repeats.update({term: times - 1 for term, times in found.items() if times > 1})
            if self.most is not None and len(self) > self.most:
                self._forget(len(self) - self.most // 2)

    def create(self) -> TextEncoder:
        """Return the encoder of the terms: scikit-learn's choice and weights for all texts at once."""
        least = 2 if self.texts >= _ROWS_FOR_PAIRS else 1
        terms = sorted(term for term, texts in self._texts.items() if texts >= least) or sorted(self._texts)
        if len(terms) > _MOST_TERMS:
            times = np.array([self._texts[term] + self._repeats[term] for term in terms], dtype=np.float32)
            terms = [terms[place] for place in np.sort((-times).argsort()[:_MOST_TERMS])]
        texts = np.array([self._texts[term] for term in terms], dtype=np.float32)
        return TextEncoder(terms, np.log((self.texts + 1) / (texts + 1)) + 1)

    def _forget(self, terms: int) -> None:
        """Forget so many terms with the fewest texts, and others with as few."""
        self.has_forgotten = True
        texts = np.fromiter(self._texts.values(), np.int64, len(self))
        fewest = np.partition(texts, terms - 1)[terms - 1]
        self._texts = Counter({term: count for term, count in self._texts.items() if count > fewest})
        self._repeats = Counter({term: count for term, count in self._repeats.items() if term in self._texts})

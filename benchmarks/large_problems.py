"""Problems of any size, for `benchmarks.scale`: real texts, and labels of a random hierarchy with features."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.text_problems import Content, read_phenotypes, read_wordnet
from chmcnn import Hierarchy
from chmcnn.datasets import Preprocessor
from chmcnn.datasets.synthetic import random_hierarchy

Encode = Callable[[list[str]], NDArray[np.float32]]
"""An encoder of texts: what it returns has one row for each."""
DEPTH = 14
"""Levels of the hierarchy, as in the Gene Ontology."""
EDGES = 1.4
"""Edges per class, as there."""
LABELS = 60
"""Labels of a row, with all ancestors."""
COLUMNS = 20_000
"""Columns of sparse features; about 50 of them are not 0 in a row."""


class LargeProblem(NamedTuple):
    """Features and labels with all ancestors."""

    x: Any  # (rows, features), an array or a sparse matrix
    y: sparse.csr_array
    hierarchy: Hierarchy


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a problem: rows, classes, and dense features, or 0 for sparse ones."""

    rows: int
    classes: int
    dense: int = 0

    def draw(self) -> LargeProblem:
        """Draw the problem; the same one each time."""
        random = np.random.default_rng(0)
        hierarchy = random_hierarchy(self.classes, edges=round(EDGES * self.classes), depth=DEPTH)
        y = _draw_labels(self.rows, hierarchy, random)
        x = _draw_dense(y, self.dense, random) if self.dense else _draw_sparse(y, random)
        return LargeProblem(x, y, hierarchy)


def read_all_of_wordnet() -> tuple[LargeProblem, LargeProblem]:
    """Return 70% of the glosses of WordNet to train on, and 1,000 others to test on, with all synsets as classes."""
    return _split_texts(read_wordnet(_text_folder()), test=1000)


def read_all_phenotypes(encode: Encode | None = None) -> tuple[LargeProblem, LargeProblem]:
    """Return 70% of the definitions of phenotypes to train on, and 3,000 others to test on, with all terms.

    What ``encode`` returns for the texts are columns beside them.
    """
    return _split_texts(read_phenotypes(_text_folder()), test=3000, encode=encode)


def _text_folder() -> Path:
    return Path(os.environ.get("CHMCNN_TEXTS", "."))


def _split_texts(content: Content, test: int, encode: Encode | None = None) -> tuple[LargeProblem, LargeProblem]:
    texts, label_sets, edges = content
    table = pd.DataFrame(encode(texts) if encode else None, index=range(len(texts))).add_prefix("encoded")
    table["text"] = pd.Series(texts, dtype="string")
    hierarchy = Hierarchy.from_edges(edges)
    order = np.random.default_rng(0).permutation(len(texts))
    size = round(0.7 * len(texts))
    preprocessor = Preprocessor().fit(table.iloc[order[:size]])
    first, second = (
        LargeProblem(
            preprocessor.transform(table.iloc[rows]),
            hierarchy.encode_sparse([label_sets[row] for row in rows]),
            hierarchy,
        )
        for rows in (order[:size], order[size : size + test])
    )
    return first, second


@dataclass(frozen=True, slots=True)
class Proteins:
    """Rows in families, as proteins are: a family has classes and words, of which each row has some.

    A few families and classes are frequent, and most are rare. A row also has classes and words of its own, and words
    of its classes, which other families with these classes have as well.
    """

    rows: int = 100_000
    test: int = 1_000
    classes: int = 40_000

    def draw(self) -> tuple[LargeProblem, LargeProblem]:
        """Return rows to train on, and others to test on; the same ones each time."""
        random = np.random.default_rng(0)
        hierarchy = random_hierarchy(self.classes, edges=round(EDGES * self.classes), depth=DEPTH)
        rows, families = self.rows + self.test, self.rows // 5
        family = _draw_ranks(families, rows, random)
        order = random.permutation(self.classes)
        shared = order[_draw_ranks(self.classes, (families, 4), random)][family]
        own = order[_draw_ranks(self.classes, (rows, 1), random)]
        y = hierarchy.close(_mark([_keep(shared, 0.7, random), own], self.classes))
        words = random.integers(COLUMNS, size=(families, 30))[family]
        noise = _draw_ranks(COLUMNS, (rows, 20), random, skipped=200)  # no word is in most rows
        x = _mark([_keep(words, 0.3, random), noise], COLUMNS) + _draw_class_words(y, 0.1, random)
        rarity = TfidfTransformer().fit(x[: self.rows])
        parts = (slice(self.rows), slice(self.rows, rows))
        first, second = (LargeProblem(rarity.transform(x[part]), y[part], hierarchy) for part in parts)
        return first, second


def _draw_labels(rows: int, hierarchy: Hierarchy, random: np.random.Generator) -> sparse.csr_array:
    """Draw classes, the k-th one 1 / k times as often as the first, until rows have their labels on average."""
    classes = len(hierarchy)
    chances = 1 / np.arange(1, classes + 1)
    order = random.permutation(classes)

    def draw(count: int, of: int) -> sparse.csr_array:
        drawn = order[random.choice(classes, size=(of, count), p=chances / chances.sum())]
        places = np.repeat(np.arange(of), count), drawn.ravel()
        marks = sparse.csr_array((np.ones(drawn.size, dtype=np.bool_), places), shape=(of, classes))
        return hierarchy.close(marks)

    above = draw(1, 1000).nnz / 1000  # labels that one class brings
    return draw(max(1, round(LABELS / above)), rows)


def _draw_dense(y: sparse.csr_array, columns: int, random: np.random.Generator) -> NDArray[np.float32]:
    """Each class shifts its rows in a direction of its own; the noise is as large as the signal."""
    signal = y.astype(np.float32) @ random.standard_normal((y.shape[1], columns), dtype=np.float32)
    signal /= signal.std()
    signal += random.standard_normal(signal.shape, dtype=np.float32)
    return signal


def _draw_sparse(y: sparse.csr_array, random: np.random.Generator) -> sparse.csr_array:
    """A row has a word of each second label, one of three that the class has, and ten words of no class."""
    words = _draw_class_words(y, 0.5, random)
    noise = random.integers(0, COLUMNS, size=10 * y.shape[0])
    places = np.repeat(np.arange(y.shape[0]), 10), noise
    return words + sparse.csr_array((np.ones(len(noise)), places), shape=words.shape)


def _draw_class_words(y: sparse.csr_array, share: float, random: np.random.Generator) -> sparse.csr_array:
    """Draw words for a share of the labels of each row, one of three that the class has."""
    words = random.integers(0, COLUMNS, size=(y.shape[1], 3))
    kept = random.random(y.nnz) < share
    rows = np.repeat(np.arange(y.shape[0]), np.diff(y.indptr))[kept]
    columns = words[y.indices[kept], random.integers(0, 3, size=len(rows))]
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(y.shape[0], COLUMNS))


def _draw_ranks(
    size: int, shape: int | tuple[int, int], random: np.random.Generator, skipped: int = 0
) -> NDArray[np.int64]:
    """Draw numbers from 0, the k-th one 1 / k times as often as the first, after some that are skipped."""
    chances = 1 / np.arange(1 + skipped, size + 1 + skipped)
    return random.choice(size, size=shape, p=chances / chances.sum())


def _keep(columns: NDArray[np.int64], share: float, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the columns (rows, places), each with some chance, and -1 for the others."""
    return np.where(random.random(columns.shape) < share, columns, -1)


def _mark(parts: list[NDArray[np.int64]], size: int) -> sparse.csr_array:
    """Return a matrix that marks the columns of each row; -1 is none."""
    columns = np.concatenate(parts, axis=1)
    rows, places = np.nonzero(columns >= 0)
    marks = np.ones(len(rows), dtype=np.bool_)
    return sparse.csr_array((marks, (rows, columns[rows, places])), shape=(len(columns), size))

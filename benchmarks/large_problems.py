"""Problems of any size, for `benchmarks.scale`: labels of a random hierarchy, and features that depend on them."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.text_problems import read_wordnet
from chmcnn import Hierarchy
from chmcnn.datasets import Preprocessor
from chmcnn.datasets.synthetic import random_hierarchy

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
    texts, label_sets, edges = read_wordnet(Path(os.environ.get("CHMCNN_TEXTS", ".")))
    hierarchy = Hierarchy.from_edges(edges)
    order = np.random.default_rng(0).permutation(len(texts))
    size = round(0.7 * len(texts))
    preprocessor = Preprocessor().fit([texts[row] for row in order[:size]])
    train, test = (
        LargeProblem(
            preprocessor.transform([texts[row] for row in rows]),
            hierarchy.encode_sparse([label_sets[row] for row in rows]),
            hierarchy,
        )
        for rows in (order[:size], order[size : size + 1000])
    )
    return train, test


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
    words = random.integers(0, COLUMNS, size=(y.shape[1], 3))
    kept = random.random(y.nnz) < 0.5
    rows = np.repeat(np.arange(y.shape[0]), np.diff(y.indptr))[kept]
    columns = words[y.indices[kept], random.integers(0, 3, size=len(rows))]
    noise = random.integers(0, COLUMNS, size=10 * y.shape[0])
    places = np.concatenate((rows, np.repeat(np.arange(y.shape[0]), 10))), np.concatenate((columns, noise))
    return sparse.csr_array((np.ones(len(places[0])), places), shape=(y.shape[0], COLUMNS))

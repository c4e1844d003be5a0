"""Neighbours: the labels of the nearest training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from scipy import sparse
from sklearn.preprocessing import normalize

from chmcnn import metrics
from chmcnn.baselines._arrays import csr_arrays, matrix_arrays, read_csr, read_matrix
from chmcnn.baselines._refitted import Refitted
from chmcnn.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from chmcnn._typing import Features, JSONValue, LabelsLike
    from chmcnn.baselines._arrays import Arrays, Matrix
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Rows

NUMBERS = (5, 15, 30, 60)
POWERS = (1, 2, 4)
DEFAULT = {"n_neighbours": 30, "power": 2}
"""Settings without validation rows: good on the validation rows of all text problems."""
_FULL = 0.5
"""Share of the rows from which a column of sparse features is computed with as a dense one."""
_CELLS_OF_CHOICE = 1 << 23
"""Most scores of validation rows that settings are chosen by, and most similarities."""


class Neighbours(Refitted["NearestRows"]):
    """The mean labels of the nearest training rows, weighted by a power of their cosine similarity.

    The frequencies of the classes count as one more neighbour, of a small weight: a row that resembles no other gets
    them. Nothing is trained, so this is the quickest system on sparse features with very many classes.

    Parameters
    ----------
    n_neighbours
        Number of neighbours. By default the best of 5, 15, 30 and 60 by the AU(PRC) on the validation rows, or 30
        without such rows.
    power
        Power of the similarities. By default the best of 1, 2 and 4 on the validation rows, or 2 without such rows.
    smoothing
        Weight of the frequencies of the classes; a row that is the same as the new one weighs 1.
    hierarchy, validation, threshold, preprocess, path_separator, refit, evaluated, random_state
        See `chmcnn.CHMCNNClassifier`.

    Attributes
    ----------
    n_neighbours_, power_
        The settings that are used.
    best_score_ : float
        AU(PRC) on the validation rows, of a model without them.

    Examples
    --------
    >>> X, y = ["red shoes", "blue shoes", "green tea"] * 5, ["wear/shoes", "wear/shoes", "food/tea"] * 5
    >>> sorted(Neighbours(random_state=0).fit(X, y).predict_labels(["white tea"])[0])
    ['food', 'food/tea']
    """

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_neighbours: int | None = None,
        power: float | None = None,
        smoothing: float = 0.03,
        **options: JSONValue,
    ) -> None:
        super().__init__(hierarchy, **options)
        self.n_neighbours = n_neighbours
        self.power = power
        self.smoothing = smoothing

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        least = {"n_neighbours": 1, "power": 0.1, "smoothing": 1e-6}
        self._check_numbers(**{name: value for name, value in least.items() if getattr(self, name) is not None})
        self.n_neighbours_ = self.n_neighbours or DEFAULT["n_neighbours"]
        self.power_ = self.power or DEFAULT["power"]

    def settings_to_save(self) -> dict[str, JSONValue]:
        """Return the settings that are used."""
        return {"n_neighbours": self.n_neighbours_, "power": self.power_}

    def _train(self, rows: Rows) -> NearestRows:
        unit = _normalise(rows.features)
        directions = unit.T if isinstance(unit, np.ndarray) else unit.T.tocsr()
        return self._create(directions, rows.y.astype(np.float32))

    def _create(self, directions: Matrix, labels: sparse.csr_array) -> NearestRows:
        frequencies = (labels.sum(axis=0) / labels.shape[0]).astype(np.float32)
        return NearestRows(directions, labels, frequencies, self.n_neighbours_, self.power_, self.smoothing)

    def _choose(self, first: NearestRows, valid: Rows) -> NearestRows:
        numbers = NUMBERS if self.n_neighbours is None else (self.n_neighbours_,)
        sample = self._draw(valid, _CELLS_OF_CHOICE // max(len(self.hierarchy_), *numbers))
        powers = POWERS if self.power is None else (self.power_,)
        models = [replace(first, number=number, power=power) for number in numbers for power in powers]
        if len(models) == 1 or not self._has_labels(sample.y):
            return first
        blocks = self._split_features(first, sample.features)
        similar = sparse.vstack([first.find(block, max(numbers)) for block in blocks], format="csr")
        best = max(models, key=lambda model: self._measure(model.average(similar), sample.y))
        self.n_neighbours_, self.power_ = best.number, best.power
        return best

    def _measure(self, scores: NDArray[np.float32], labels: sparse.csr_array) -> float:
        return metrics.auprc(labels, self._correct_plain(torch.from_numpy(scores)).numpy(), classes=self.evaluated_)

    def _read(self, arrays: Arrays, facts: Mapping[str, JSONValue]) -> NearestRows:  # noqa: ARG002 -- of all systems
        labels = read_csr(arrays, "labels", (None, len(self.hierarchy_)), values=False)
        if not labels.shape[0]:
            raise ModelError("labels have no rows")
        return self._create(read_matrix(arrays, "directions", (self._count_columns(), labels.shape[0])), labels)


class _Parts(NamedTuple):
    """An inverted index in two parts: products of full columns are quicker as dense ones."""

    full: NDArray[np.intp]  # columns that most rows have
    dense: NDArray[np.float32]  # (full columns, rows)
    others: sparse.csr_array  # (columns, rows), of which the full ones are empty


@dataclass(frozen=True)
class NearestRows:
    """Training rows of length 1 and their labels, to find and average the nearest ones."""

    directions: Matrix  # (columns, rows): an inverted index, if features are sparse
    labels: sparse.csr_array  # (rows, classes)
    frequencies: NDArray[np.float32]  # (classes,)
    number: int  # of neighbours
    power: float
    smoothing: float

    @property
    def width(self) -> int:
        """Similarities that each row needs."""
        return int(self.labels.shape[0])

    def score(self, x: Features) -> NDArray[np.float32]:
        """Return the weighted mean labels (rows, classes) of the nearest rows."""
        return self.average(self.find(x, self.number))

    def find(self, x: Features, number: int) -> sparse.csr_array:
        """Return the similarities (rows, training rows) to the nearest training rows, and 0 for all others."""
        unit, parts = _normalise(x), self._parts
        if parts is not None:
            return _keep_nearest_dense(unit[:, parts.full].toarray() @ parts.dense + unit @ parts.others, number)
        similar = unit @ self.directions
        keep = _keep_nearest_dense if isinstance(similar, np.ndarray) else _keep_nearest
        return keep(similar, number)

    def average(self, similar: sparse.csr_array) -> NDArray[np.float32]:
        """Return the mean labels (rows, classes), weighted by a power of the highest similarities."""
        weights = _keep_nearest(similar, self.number)
        weights.data **= np.float32(self.power)
        totals = (weights @ self.labels).toarray() + np.float32(self.smoothing) * self.frequencies
        means: NDArray[np.float32] = totals / (weights.sum(axis=1)[:, None] + np.float32(self.smoothing))
        return np.minimum(means, 1)  # rounding may pass it

    @cached_property
    def _parts(self) -> _Parts | None:
        """The parts of an inverted index with columns that most rows have, such as those of an embedding."""
        if isinstance(self.directions, np.ndarray):
            return None
        is_full = np.diff(self.directions.indptr) > _FULL * self.width
        if not is_full.any():
            return None
        others = sparse.csr_array(sparse.diags_array((~is_full).astype(np.float32)) @ self.directions)
        others.eliminate_zeros()
        return _Parts(np.flatnonzero(is_full), self.directions[is_full].toarray(), others)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return all arrays, for a model file."""
        return {**matrix_arrays("directions", self.directions), **csr_arrays("labels", self.labels, values=False)}


def _normalise(x: Features) -> Features:
    """Return rows of length 1 in single precision; a row of zeros stays."""
    return normalize(x).astype(np.float32)


def _keep_nearest(similar: sparse.csr_array, k: int) -> sparse.csr_array:
    """Return the highest positive similarities of each row.

    >>> _keep_nearest(sparse.csr_array([[0.1, 0.3, 0.0, 0.2]], dtype=np.float32), 2).toarray()
    array([[0. , 0.3, 0. , 0.2]], dtype=float32)
    """
    kept = []
    for start, end in zip(similar.indptr[:-1], similar.indptr[1:], strict=True):
        near = slice(start, end)
        if end - start > k:
            near = start + np.sort(np.argpartition(-similar.data[near], k)[:k])
        kept.append((similar.data[near], similar.indices[near]))
    ends = np.cumsum([0, *(len(values) for values, _ in kept)])
    data, columns = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    return sparse.csr_array((np.maximum(data, 0), columns, ends), shape=similar.shape)


def _keep_nearest_dense(similar: NDArray[np.float32], k: int) -> sparse.csr_array:
    """Return the highest positive similarities of each row.

    >>> _keep_nearest_dense(np.array([[0.1, 0.3, -1, 0.2]], dtype=np.float32), 2).toarray()
    array([[0. , 0.3, 0. , 0.2]], dtype=float32)
    """
    rows, size = similar.shape
    k = min(k, size)
    near = np.sort(np.argpartition(-similar, k - 1, axis=1)[:, :k], axis=1)
    data = np.maximum(np.take_along_axis(similar, near, axis=1), 0)
    return sparse.csr_array((data.ravel(), near.ravel(), np.arange(rows + 1) * k), shape=similar.shape)

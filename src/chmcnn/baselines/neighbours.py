"""Neighbours: the labels of the nearest training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
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
    from chmcnn.baselines._refitted import Learned
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Rows

KS = (5, 15, 45)
SMOOTHINGS = (0.03, 0.1, 0.3)
DEFAULT = (15, 0.1)
"""Settings without validation rows: the best on the validation rows of most text problems."""
_CELLS_OF_CHOICE = 1 << 24
"""Most scores of validation rows that settings are chosen by."""


class Neighbours(Refitted):
    """The mean labels of the nearest training rows by cosine, weighted by their similarity.

    The frequencies of the classes count as one more neighbour, of a small weight: a row that resembles no other gets
    them. Nothing is trained, so this is the quickest system on sparse features with very many classes.

    Parameters
    ----------
    n_neighbours
        Number of neighbours. By default the best of 5, 15 and 45 on the validation rows, or 15 without such rows.
    smoothing
        Weight of the frequencies of the classes. By default the best of 0.03, 0.1 and 0.3 on the validation rows, or
        0.1 without such rows.
    hierarchy, validation, threshold, preprocess, path_separator, evaluated, random_state
        See `chmcnn.CHMCNNClassifier`.

    Attributes
    ----------
    n_neighbours_, smoothing_
        The settings that are used.
    best_score_ : float
        AU(PRC) on the validation rows, of a model without them.

    Examples
    --------
    >>> X, y = ["red shoes", "blue shoes", "green tea"] * 5, ["wear/shoes", "wear/shoes", "food/tea"] * 5
    >>> sorted(Neighbours(random_state=0).fit(X, y).predict_labels(["white tea"])[0])
    ['food', 'food/tea']
    """

    model_: NearestRows

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_neighbours: int | None = None,
        smoothing: float | None = None,
        **options: JSONValue,
    ) -> None:
        super().__init__(hierarchy, **options)
        self.n_neighbours = n_neighbours
        self.smoothing = smoothing

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        least = {"n_neighbours": 1, "smoothing": 1e-6}
        self._check_numbers(**{name: value for name, value in least.items() if getattr(self, name) is not None})
        self.n_neighbours_ = DEFAULT[0] if self.n_neighbours is None else int(self.n_neighbours)
        self.smoothing_ = DEFAULT[1] if self.smoothing is None else float(self.smoothing)

    def settings_to_save(self) -> dict[str, JSONValue]:
        """Return the settings that are used."""
        return {"n_neighbours": self.n_neighbours_, "smoothing": self.smoothing_}

    def _train(self, rows: Rows) -> NearestRows:
        return NearestRows.index(rows, self.n_neighbours_, self.smoothing_)

    def _choose(self, first: Learned, valid: Rows) -> Learned:
        sample = valid.take(np.arange(min(len(valid), max(1, _CELLS_OF_CHOICE // len(self.hierarchy_)))))
        if not self._has_labels(sample.y) or not isinstance(first, NearestRows):
            return first
        best = first, -1.0
        for k in KS if self.n_neighbours is None else (self.n_neighbours_,):
            for smoothing in SMOOTHINGS if self.smoothing is None else (self.smoothing_,):
                model = replace(first, k=k, smoothing=smoothing)
                score = metrics.auprc(sample.y, self._score_rows(model, sample), classes=self.evaluated_)
                best = max(best, (model, score), key=lambda pair: pair[1])
        self.n_neighbours_, self.smoothing_ = best[0].k, best[0].smoothing
        return best[0]

    def _read(self, arrays: Arrays, facts: Mapping[str, JSONValue]) -> NearestRows:  # noqa: ARG002 -- of all systems
        settings = self.n_neighbours_, self.smoothing_
        return NearestRows.read(arrays, (self._count_columns(), len(self.hierarchy_)), settings)


@dataclass(frozen=True, slots=True)
class NearestRows:
    """Training rows of length 1 and their labels, to find and average the nearest ones."""

    directions: Matrix  # (columns, rows): an inverted index, if features are sparse
    labels: sparse.csr_array  # (rows, classes)
    frequencies: NDArray[np.float32]  # (classes,)
    k: int
    smoothing: float

    @classmethod
    def index(cls, rows: Rows, k: int, smoothing: float) -> Self:
        """Store rows by their columns, which a product with new rows needs."""
        unit = _normalise(rows.features)
        directions = unit.T if isinstance(unit, np.ndarray) else unit.T.tocsr()
        return cls._create(directions, rows.y.astype(np.float32), k, smoothing)

    @classmethod
    def _create(cls, directions: Features, labels: sparse.csr_array, k: int, smoothing: float) -> Self:
        frequencies = (labels.sum(axis=0) / labels.shape[0]).astype(np.float32)
        return cls(directions, labels, frequencies, k, smoothing)

    @property
    def width(self) -> int:
        """Similarities that each row needs."""
        return int(self.labels.shape[0])

    def score(self, x: Features) -> NDArray[np.float32]:
        """Return the weighted mean labels (rows, classes) of the nearest rows."""
        similar = _normalise(x) @ self.directions
        keep = _keep_nearest_dense if isinstance(similar, np.ndarray) else _keep_nearest
        weights = keep(similar, self.k)
        totals = (weights @ self.labels).toarray() + np.float32(self.smoothing) * self.frequencies
        means: NDArray[np.float32] = totals / (weights.sum(axis=1)[:, None] + np.float32(self.smoothing))
        return np.minimum(means, 1)  # rounding may pass it

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return all arrays, for a model file."""
        return {**matrix_arrays("directions", self.directions), **csr_arrays("labels", self.labels, values=False)}

    @classmethod
    def read(cls, arrays: Arrays, shape: tuple[int, int], settings: tuple[int, float]) -> Self:
        """Return what a model file has, for a number of columns and classes."""
        columns, classes = shape
        labels = read_csr(arrays, "labels", (None, classes), values=False)
        if not labels.shape[0]:
            raise ModelError("labels have no rows")
        return cls._create(read_matrix(arrays, "directions", (columns, labels.shape[0])), labels, *settings)


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

"""The mean labels of the nearest rows: a baseline for sparse features that needs no training."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

NEIGHBOURS = 15
ROWS_AT_ONCE = 500
SMOOTHING = 0.1
"""Weight of the frequencies of the classes, beside the similarities of the neighbours."""


def average_neighbours(x: sparse.csr_array, y: sparse.csr_array, new: sparse.csr_array) -> NDArray[np.float32]:
    """Return the mean labels of the nearest rows by cosine, smoothed by the frequencies of the classes."""
    labels = y.astype(np.float32)
    frequencies = np.asarray(labels.sum(axis=0)).ravel() / y.shape[0]
    scores = np.empty((new.shape[0], y.shape[1]), dtype=np.float32)
    for start in range(0, new.shape[0], ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        weights = _keep_nearest(sparse.csr_array(new[block] @ x.T))
        total = (weights @ labels).toarray() + SMOOTHING * frequencies
        scores[block] = total / (weights.sum(axis=1)[:, None] + SMOOTHING)
    return scores


def _keep_nearest(similar: sparse.csr_array) -> sparse.csr_array:
    """Return the highest similarities of each row."""
    kept = []
    for row in range(similar.shape[0]):
        places = slice(similar.indptr[row], similar.indptr[row + 1])
        best = np.argsort(-similar.data[places])[:NEIGHBOURS]
        kept.append((similar.data[places][best], similar.indices[places][best]))
    ends = np.cumsum([0, *(len(values) for values, _ in kept)])
    data, columns = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    return sparse.csr_array((data.astype(np.float32), columns, ends), shape=similar.shape)

"""Parts with the same share of every class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from chmcnn import DatasetError
from chmcnn.datasets import stratify


def draw(rows: int, classes: int, seed: int = 0) -> NDArray[np.bool_]:
    """Labels whose classes have from a few rows to two fifths of them."""
    shares = np.maximum(0.4 / np.arange(1, classes + 1), 5 / rows)
    return np.random.default_rng(seed).random((rows, classes)) < shares


def deviation(labels: NDArray[np.bool_], parts: list[NDArray[np.int64]]) -> float:
    """How far the shares of the classes are from those of the rows, on average."""
    counts = np.stack([labels[part].sum(axis=0) for part in parts])
    sizes = np.array([len(part) for part in parts])[:, None] / len(labels)
    return float(np.abs(counts / np.maximum(labels.sum(axis=0), 1) - sizes).mean())


@settings(max_examples=40)
@given(
    rows=st.integers(0, 40),
    classes=st.integers(1, 6),
    cut=st.floats(0, 1),
    seed=st.integers(0, 100),
    is_sparse=st.booleans(),
)
def test_parts_have_the_sizes_that_were_asked_for(
    rows: int, classes: int, cut: float, seed: int, is_sparse: bool
) -> None:
    labels = np.random.default_rng(seed).random((rows, classes)) < 0.3
    sizes = (int(cut * rows), rows - int(cut * rows), 0)
    given = sparse.csr_array(labels) if is_sparse else labels
    parts = stratify(given, sizes, seed)
    assert [len(part) for part in parts] == list(sizes)
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    assert all((np.diff(part) > 0).all() for part in parts)
    assert [part.tolist() for part in stratify(labels, sizes, seed)] == [part.tolist() for part in parts]


def literal(labels: NDArray[np.bool_], parts: int) -> list[NDArray[np.int64]]:
    """The algorithm of Sechidis et al. as they write it, for parts of the same size."""
    random = np.random.default_rng(0)
    wanted = np.full(parts, len(labels) / parts)
    wanted_of_class = np.tile(labels.sum(axis=0) / parts, (parts, 1))
    placed = np.full(len(labels), -1)
    while (placed < 0).any():
        left = labels[placed < 0].sum(axis=0)
        rarest = np.where(left > 0, left, len(labels) + 1).argmin()
        rows = np.flatnonzero((placed < 0) & (labels[:, rarest] if left.any() else True))
        for row in rows:
            lacking = wanted_of_class[:, rarest] if left.any() else wanted
            most = np.flatnonzero(lacking == lacking.max())
            most = most[wanted[most] == wanted[most].max()]
            placed[row] = random.choice(most)
            wanted[placed[row]] -= 1
            wanted_of_class[placed[row], labels[row]] -= 1
    return [np.flatnonzero(placed == part) for part in range(parts)]


def test_classes_are_spread_as_well_as_by_the_published_algorithm() -> None:
    labels = draw(600, 60)
    ours, theirs = stratify(labels, [120] * 5, 0), literal(labels, 5)
    at_random = np.array_split(np.random.default_rng(0).permutation(600), 5)
    assert deviation(labels, ours) < 1.1 * deviation(labels, theirs)
    assert deviation(labels, ours) < 0.5 * deviation(labels, at_random)


def test_rare_classes_are_in_every_fold_that_they_have_a_row_for() -> None:
    labels = np.zeros((100, 3), dtype=bool)
    labels[:5, 0] = labels[50:55, 1] = labels[:, 2] = True
    for part in stratify(labels, [20] * 5, 3):
        assert labels[part].sum(axis=0).tolist() == [1, 1, 20]


def test_the_seed_decides() -> None:
    labels = draw(100, 10)
    assert [part.tolist() for part in stratify(labels, (80, 20), 0)] != [
        part.tolist() for part in stratify(labels, (80, 20), 1)
    ]


def test_sizes_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(DatasetError, match=r"The sizes \(3, 4\) add up to 7, but there are 10 rows"):
        stratify(np.ones((10, 1)), (3, 4), 0)

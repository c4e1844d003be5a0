"""Rows in memory: labels are sparse until a batch, and scores come in blocks."""

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.untyped import untyped
from torch import Tensor

from chmcnn.training import Rows, _rows, join_blocks, score_blocks


def draw(rows: int, classes: int, share: float = 0.2) -> Rows:
    labels = np.random.default_rng(rows + classes).random((rows, classes)) < share
    return Rows(torch.arange(rows)[:, None].float(), csr_array(labels))


@given(
    rows=st.integers(1, 30), classes=st.integers(1, 12), size=st.integers(1, 8), share=st.sampled_from([0.0, 0.3, 1.0])
)
def test_each_batch_has_the_labels_of_its_rows(rows: int, classes: int, size: int, share: float) -> None:
    data = draw(rows, classes, share)
    seen = []
    for x, y in data.batches(size):
        chosen = x[:, 0].long().numpy()
        assert y.dtype == torch.bool
        np.testing.assert_array_equal(y.numpy(), data.y.toarray()[chosen])
        seen += chosen.tolist()
    assert sorted(seen) == list(range(rows))


def test_rows_are_joined_and_taken_with_their_labels() -> None:
    first, second = draw(5, 3), draw(4, 3)
    both = first.concatenate(second)
    np.testing.assert_array_equal(both.y.toarray(), np.concatenate([first.y.toarray(), second.y.toarray()]))
    taken = both.take(np.array([7, 0]))
    assert untyped(taken.x)[:, 0].tolist() == [2, 0]
    np.testing.assert_array_equal(taken.y.toarray(), both.y.toarray()[[7, 0]])


def test_a_pass_computes_a_bounded_number_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "_CELLS_AT_ONCE", 20)
    sizes = []

    def network(x: Tensor) -> Tensor:
        sizes.append(len(x))
        return x.repeat(1, 7)

    whole = _rows.predict(network, draw(7, 7).x, "cpu", classes=7)
    assert sizes == [2, 2, 2, 1]
    assert whole[:, 6].tolist() == list(range(7))
    assert join_blocks(iter([whole]), 7) is whole


def test_scores_that_do_not_fit_are_computed_each_time_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def network(x: Tensor) -> Tensor:
        calls.append(len(x))
        return x.repeat(1, 7)

    assert isinstance(score_blocks(network, draw(7, 7), "cpu"), list)
    monkeypatch.setattr(_rows, "CELLS_IN_MEMORY", 48)
    blocks = score_blocks(network, draw(7, 7), "cpu")
    assert callable(blocks)
    assert [block.tolist() for block in blocks()] == [block.tolist() for block in blocks()]
    assert calls == [7, 7, 7]


def test_memory_grows_with_the_labels() -> None:
    rows, classes = 2000, 20_000
    places = np.arange(rows), np.arange(rows) % classes
    data = Rows(torch.zeros(rows, 1), csr_array((np.ones(rows, dtype=np.bool_), places), shape=(rows, classes)))
    tracemalloc.start()
    for _, y in data.batches(4):
        assert y.sum() == len(y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * rows * classes

"""Precision and recall at k, and R-precision."""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import top_k_accuracy_score

from chmcnn import ScoreError
from chmcnn.metrics import _inputs, precision_at_k, r_precision, recall_at_k

if TYPE_CHECKING:
    from collections.abc import Callable

RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.random((30, 6)) < 0.4
SCORES = RANDOM.permuted(np.tile(np.arange(6) / 6, (30, 1)), axis=1)


def naive(sizes: Any, share_of: Any) -> float:
    """Sort each row; count true classes among the first ones."""
    shares = []
    for truth, scores, size, whole in zip(TRUTH, SCORES, sizes, share_of, strict=True):
        first = np.argsort(-scores)[:size]
        if whole:
            shares.append(sum(truth[at] for at in first) / whole)
    return float(np.mean(shares))


@pytest.mark.parametrize("k", [1, 3, 6])
def test_they_are_what_sorting_each_row_gives(k: int) -> None:
    sizes = TRUTH.sum(axis=1)
    assert precision_at_k(TRUTH, SCORES, k) == pytest.approx(naive([k] * 30, [k] * 30))
    assert recall_at_k(TRUTH, SCORES, k) == pytest.approx(naive([k] * 30, sizes))
    assert r_precision(TRUTH, SCORES) == pytest.approx(naive(sizes, sizes))


def test_of_one_class_per_row_recall_is_the_top_k_accuracy_of_scikit_learn() -> None:
    label = RANDOM.integers(0, 6, 30)
    expected = top_k_accuracy_score(label, SCORES, k=2, labels=range(6))
    assert recall_at_k(np.eye(6)[label], SCORES, 2) == pytest.approx(expected)
    assert precision_at_k(np.eye(6)[label], SCORES, 2) == pytest.approx(expected / 2)


def test_ties_count_as_on_average_over_all_orders() -> None:
    truth, scores = np.array([[1, 0, 1, 1, 0]], dtype=bool), np.array([[0.9, 0.5, 0.5, 0.5, 0.1]])
    orders = [np.array(order) / 100 for order in itertools.permutations(range(5))]
    measures: list[Callable[[Any], float]] = [
        lambda scores: precision_at_k(truth, scores, 2),
        lambda scores: recall_at_k(truth, scores, 3),
        lambda scores: r_precision(truth, scores),
    ]
    for measure in measures:
        expected = np.mean([measure(scores + order) for order in orders])
        assert measure(scores) == pytest.approx(expected)


def test_rows_without_a_label_lower_precision_only() -> None:
    truth, scores = np.vstack([TRUTH, np.zeros((30, 6))]), np.vstack([SCORES, SCORES])
    assert precision_at_k(truth, scores, 2) == pytest.approx(precision_at_k(TRUTH, SCORES, 2) / 2)
    assert recall_at_k(truth, scores, 2) == pytest.approx(recall_at_k(TRUTH, SCORES, 2))
    assert r_precision(truth, scores) == pytest.approx(r_precision(TRUTH, SCORES))
    assert np.isnan(r_precision(truth * 0, scores))
    assert np.isnan(recall_at_k(truth * 0, scores, 1))


def test_classes_are_selected_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = np.array([1, 1, 0, 1, 0, 0], dtype=bool)
    before = [measure(TRUTH, SCORES, classes=chosen) for measure in (r_precision, _at_two(precision_at_k))]
    assert before[0] == r_precision(TRUTH[:, chosen], SCORES[:, chosen])
    monkeypatch.setattr(_inputs, "_CELLS_AT_ONCE", 10)
    after = [measure(TRUTH, SCORES, classes=chosen) for measure in (r_precision, _at_two(precision_at_k))]
    assert after == before
    assert r_precision(sparse.csr_array(TRUTH), SCORES) == pytest.approx(r_precision(TRUTH, SCORES))


def _at_two(measure: Any) -> Any:
    return lambda Y, scores, classes: measure(Y, scores, 2, classes=classes)


@pytest.mark.parametrize(
    ("k", "told"),
    [(0, "k is 0; expected an integer from 1"), (7, "k is 7, but there are only 6 classes"), (1.5, "k is 1.5; exp")],
)
def test_a_k_that_cannot_be_is_refused(k: Any, told: str) -> None:
    for measure in (precision_at_k, recall_at_k):
        with pytest.raises(ScoreError, match=told):
            measure(TRUTH, SCORES, k)

import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score
from tests.untyped import untyped

from chmcnn import ScoreError
from chmcnn.metrics import auprc, cmap, precision_recall_curve


def problem(rows: int, classes: int, *, seed: int = 0, ties: int = 0) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    truth = random.random((rows, classes)) < 0.2
    scores = random.random((rows, classes)) * 0.7 + truth * 0.3
    return truth, np.round(scores * ties) / ties if ties else scores


@pytest.mark.parametrize("ties", [0, 3, 20])
@pytest.mark.parametrize("average", ["micro", "macro", "weighted", None])
def test_average_precision_is_scikit_learns(ties: int, average: Any) -> None:
    truth, scores = problem(80, 12, ties=ties)
    ours = auprc(truth, scores, average=average)
    np.testing.assert_allclose(ours, average_precision_score(truth, scores, average=average), rtol=1e-12)


def stepwise(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Davis and Goadrich, literally: false positives grow linearly with true ones, here in steps of a thousandth."""
    points = [(0, 0)]
    for threshold in sorted(set(scores.tolist()), reverse=True):
        called = scores >= threshold
        points.append((int((called & truth).sum()), int((called & ~truth).sum())))
    area = 0.0
    for (found, wrong), (next_found, next_wrong) in pairwise(points):
        steps = np.linspace(found, next_found, 1000 * (next_found - found) + 1)
        if len(steps) > 1:
            slope = (next_wrong - wrong) / (next_found - found)
            middle = (steps[1:] + steps[:-1]) / 2
            area += float((middle / (middle + wrong + slope * (middle - found))).mean() * (next_found - found))
    return area / int(truth.sum())


@pytest.mark.parametrize("ties", [0, 2, 5, 20])
def test_interpolation_is_that_of_davis_and_goadrich(ties: int) -> None:
    truth, scores = problem(25, 4, ties=ties)
    assert auprc(truth, scores, interpolate=True) == pytest.approx(stepwise(truth.ravel(), scores.ravel()), abs=1e-4)
    if not ties:
        assert auprc(truth, scores) - 0.02 < auprc(truth, scores, interpolate=True) < auprc(truth, scores)


def test_all_scores_alike_give_the_share_of_positives() -> None:
    truth, scores = problem(50, 3)
    for interpolate in (False, True):
        assert auprc(truth, scores * 0, interpolate=interpolate) == pytest.approx(truth.mean())


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_a_growing_function_of_the_scores_changes_nothing(seed: int, ties: int) -> None:
    truth, scores = problem(20, 3, seed=seed, ties=ties)
    assert auprc(truth, np.exp(5 * scores)) == pytest.approx(auprc(truth, scores), nan_ok=True)


def test_classes_that_do_not_count_and_classes_without_rows() -> None:
    truth, scores = problem(60, 5)
    truth[:, 2] = False
    counted = np.array([True, True, True, False, True])
    each = auprc(truth, scores, average=None)
    assert np.isnan(each).tolist() == [False, False, True, False, False]
    assert auprc(truth, scores, classes=counted, average="macro") == pytest.approx(each[[0, 1, 4]].mean())
    assert cmap(truth, scores, classes=[0, 1, 2, 4]) == pytest.approx(each[[0, 1, 4]].mean())
    assert auprc(truth, scores, classes=counted) == auprc(truth[:, counted], scores[:, counted])
    assert np.isnan(auprc(truth, scores, classes=[2]))
    assert np.isnan(auprc(truth, scores, classes=[2], average="macro"))


def test_the_curve_has_the_area() -> None:
    truth, scores = problem(60, 5, ties=10)
    curve = precision_recall_curve(truth, scores)
    assert (np.diff(curve.recall) > 0).all()
    assert curve.recall[-1] == 1
    assert (np.diff(curve.thresholds) < 0).all()
    area = (np.diff(curve.recall, prepend=0) * curve.precision).sum()
    assert area == pytest.approx(auprc(truth, scores))


def test_it_takes_less_than_half_of_the_memory_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    truth = random.random((1300, 1000)) < 0.008
    scores = random.random(truth.shape, dtype=np.float32)

    def peak(function: Callable[[], object]) -> int:
        tracemalloc.start()
        try:
            function()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    ours = peak(lambda: auprc(truth, scores))
    assert ours < peak(lambda: average_precision_score(truth, scores, average="micro")) / 2


def test_bad_input_is_told() -> None:
    with pytest.raises(ScoreError, match="average is 'mean'"):
        auprc([[1, 0]], [[0.5, 0.1]], average=untyped("mean"))

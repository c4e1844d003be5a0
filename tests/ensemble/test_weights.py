"""The weights of the members."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from chmcnn import metrics
from chmcnn.ensemble import _weights
from chmcnn.ensemble._weights import Cells, list_shares
from chmcnn.errors import ChmcnnError

RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.random((60, 8)) < 0.3
EVERY = np.ones(8, dtype=bool)


def noisy(noise: float) -> np.ndarray:
    return np.clip(0.5 * TRUTH + noise * RANDOM.random(TRUTH.shape), 0, 1).astype(np.float32)


def collected(*members: np.ndarray, evaluated: np.ndarray = EVERY) -> Cells:
    stacked = np.stack(members)
    blocks = (stacked[:, start : start + 25] for start in range(0, 60, 25))
    return Cells.collect(sparse.csr_array(TRUTH), blocks, evaluated, seed=0)


def test_all_shares_are_tried() -> None:
    shares = list(list_shares(3, 5))
    assert len(set(shares)) == 21
    assert {sum(each) for each in shares} == {5}


def test_the_measure_is_the_auprc_of_the_mean_of_the_classes_that_count() -> None:
    first, second, evaluated = noisy(1.0), noisy(1.0), np.arange(8) > 2
    mean = (np.float32(0.3) * first + np.float32(0.7) * second).astype(np.float32)
    expected = metrics.auprc(TRUTH, mean, classes=evaluated)
    assert collected(first, second, evaluated=evaluated).measure([0.3, 0.7]) == pytest.approx(expected, abs=1e-6)


def test_no_weights_of_the_grid_are_better_than_those_that_are_chosen() -> None:
    cells = collected(noisy(0.9), noisy(0.9), noisy(0.9))
    weights = cells.choose_weights()
    assert weights.sum() == pytest.approx(1)
    assert cells.measure(weights) >= max(cells.measure(np.array(shares) / 5) for shares in list_shares(3, 5))


def test_a_member_that_only_harms_has_no_weight() -> None:
    worse = 1 - noisy(0.8)
    assert collected(noisy(0.8), worse).choose_weights()[1] == 0


def test_equally_good_members_have_the_same_weight() -> None:
    same = noisy(0.9)
    assert collected(same, same).choose_weights().tolist() == [0.5, 0.5]


def test_many_members_are_weighted_without_the_whole_grid() -> None:
    cells = collected(*(noisy(1.0) for _ in range(8)))
    weights = cells.choose_weights()
    assert len(cells.measured) < 1000
    assert cells.measure(weights) > max(cells.measure(alone) for alone in np.eye(8))


def test_large_problems_are_judged_by_a_sample_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_weights, "_CELLS_OF_CHOICE", 10 * 8)
    assert collected(noisy(0.9)).scores.shape[1] <= 10 * 8


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ([0.5, 0.2], r"weights is \[0.5, 0.2\]; expected numbers from 0 to 1 whose sum is 1"),
        ([1.5, -0.5], "expected numbers from 0 to 1"),
        ({"network": 1.0}, "weights is {'network': 1.0}; expected one number for each of 'network', 'trees'"),
        ([1.0], "weights is .*, but there are 2 members; expected one number for each"),
    ],
)
def test_weights_that_are_no_shares_are_refused(weights: Any, reason: str) -> None:
    with pytest.raises(ChmcnnError, match=reason):
        _weights.check_weights(weights, ["network", "trees"])

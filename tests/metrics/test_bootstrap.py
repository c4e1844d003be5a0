import numpy as np
import pytest

from chmcnn import Hierarchy, ScoreError
from chmcnn.metrics import auprc, bootstrap, by_level, calibration_error, exact_match


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for seed in range(100):
        right = random.random((80, 1)) < 0.7
        interval = bootstrap(exact_match, np.ones((80, 1)), right, repeats=200, confidence=0.9, seed=seed)
        covered += interval.low <= 0.7 <= interval.high
        assert interval.low <= interval.value <= interval.high
    assert 80 <= covered <= 98


def test_the_seed_decides() -> None:
    truth = np.random.default_rng(0).random((30, 4)) < 0.5
    scores = np.random.default_rng(1).random((30, 4))
    first, again, other = (bootstrap(auprc, truth, scores, repeats=50, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    with pytest.raises(ScoreError, match="repeats is 0"):
        bootstrap(auprc, truth, scores, repeats=0)


def test_levels_are_measured_alone() -> None:
    tree = Hierarchy.from_paths(["a/b", "c/d"])
    truth = tree.encode([{"a/b"}, {"c"}, {"c/d"}])
    scores = np.random.default_rng(0).random(truth.shape)
    found = by_level(auprc, truth, scores, tree)
    assert found == {0: auprc(truth, scores, classes=[0, 2]), 1: auprc(truth, scores, classes=[1, 3])}
    assert list(by_level(auprc, truth, scores, tree, classes=tree.depths > 0)) == [1]


def test_honest_probabilities_have_a_small_calibration_error() -> None:
    random = np.random.default_rng(0)
    probabilities = random.random((5000, 4))
    truth = random.random(probabilities.shape) < probabilities
    assert calibration_error(truth, probabilities) < 0.015
    assert calibration_error(truth, probabilities**3) > 0.1
    assert calibration_error([[1], [1]], [[1.0], [1.0]]) == 0
    with pytest.raises(ScoreError, match="Probabilities go from"):
        calibration_error([[1]], [[3.0]])
    with pytest.raises(ScoreError, match="bins is 0"):
        calibration_error([[1]], [[0.3]], bins=0)

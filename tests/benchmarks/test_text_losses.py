"""The losses of the text benchmark are what their names say."""

from functools import partial

import numpy as np
import pytest
from benchmarks.text_losses import DelegatesNegatives, add_inner, begin_with_plain, mix

from chmcnn import CHMCNNClassifier
from chmcnn.baselines import FPlusMax
from chmcnn.datasets.synthetic import learnable
from chmcnn.estimator import NeuralClassifier
from chmcnn.nn import MLP

DATA = learnable(rows=60, features=4, classes=6)


def train(kind: type[NeuralClassifier]) -> NeuralClassifier:
    network = partial(MLP, widths=(8,))  # begins with random scores, so that classes delegate
    return kind(DATA.hierarchy, network=network, epochs=2, random_state=0).fit(DATA.train.X, DATA.train.Y)


@pytest.mark.parametrize(
    ("kind", "same"),
    [
        (mix(lambda _: 0.0), CHMCNNClassifier),
        (add_inner(0.0), CHMCNNClassifier),
        (mix(lambda _: 1.0), FPlusMax),
    ],
)
def test_a_share_of_zero_or_one_is_one_of_the_losses(
    kind: type[NeuralClassifier], same: type[NeuralClassifier]
) -> None:
    scores = train(kind).predict_proba(DATA.test.X)
    np.testing.assert_allclose(scores, train(same).predict_proba(DATA.test.X), atol=1e-6)


def test_plain_cross_entropy_comes_first_in_the_training_and_in_the_refit() -> None:
    plain, constrained, found = (
        {(epoch.phase, epoch.number): epoch.loss for epoch in train(kind).history_}
        for kind in (FPlusMax, CHMCNNClassifier, begin_with_plain(1 / 2))
    )
    for first in (("train", 1), ("refit", 1)):
        assert found[first] == pytest.approx(plain[first], abs=1e-6)
        assert found[first] != pytest.approx(constrained[first], abs=1e-6)
    assert found["train", 2] != pytest.approx(plain["train", 2], abs=1e-6)


def test_positives_that_do_not_delegate_are_another_loss_with_coherent_scores() -> None:
    scores = train(DelegatesNegatives).predict_proba(DATA.test.X)
    assert not len(DATA.hierarchy.violations(scores))
    assert not np.allclose(scores, train(CHMCNNClassifier).predict_proba(DATA.test.X))

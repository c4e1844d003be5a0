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
    scores = [train(each).predict_proba(DATA.test.X) for each in (kind, same)]
    np.testing.assert_allclose(*scores, atol=1e-6)


def test_plain_cross_entropy_comes_first_in_the_training_and_in_the_refit() -> None:
    losses = {
        kind: [(epoch.phase, epoch.number, pytest.approx(epoch.loss, abs=1e-6)) for epoch in train(kind).history_]
        for kind in (FPlusMax, CHMCNNClassifier)
    }
    model = train(begin_with_plain(1 / 2))
    found = [(epoch.phase, epoch.number, epoch.loss) for epoch in model.history_]
    first = [(phase, number) for phase, number, _ in found].index(("refit", 1))
    for position in (0, first):
        assert found[position] == losses[FPlusMax][position]
        assert found[position] != losses[CHMCNNClassifier][position]
    assert found[1] != losses[FPlusMax][1]


def test_positives_that_do_not_delegate_are_another_loss_with_coherent_scores() -> None:
    scores = train(DelegatesNegatives).predict_proba(DATA.test.X)
    assert not len(DATA.hierarchy.violations(scores))
    assert not np.allclose(scores, train(CHMCNNClassifier).predict_proba(DATA.test.X))

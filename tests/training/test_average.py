"""The moving average of weights."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from chmcnn.training import _average
from chmcnn.training._average import WeightAverage


def averaged(steps: int, decay: float = 0.99) -> list[float]:
    """The average after each step, of a weight that is the number of the step."""
    network, average = nn.Linear(1, 1, bias=False), WeightAverage(decay)
    found = []
    for step in range(1, steps + 1):
        nn.init.constant_(network.weight, step)
        average.update(network)
        found.append(float(average.weights["weight"]))
    return found


def test_large_networks_are_averaged_after_some_steps_with_about_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = averaged(800)
    monkeypatch.setattr(_average, "_LARGE", 0)
    coarse = averaged(800)
    same = sum(before == after for before, after in pairwise(exact))
    assert (same, coarse[:250]) == (0, exact[:250])  # the average is that of few steps so far
    changes = [step for step in range(400, 800) if coarse[step] != coarse[step - 1]]
    assert changes == list(range(407, 800, 8))
    assert coarse[-1] == pytest.approx(exact[-1], rel=0.01)


def test_without_decay_nothing_is_kept() -> None:
    average = WeightAverage()
    average.update(nn.Linear(1, 1))
    assert average.weights == {}


def test_a_network_has_the_average_for_the_length_of_a_block() -> None:
    network, average = nn.Linear(1, 1, bias=False), WeightAverage(0.5)
    for value in (0.0, 1.0):
        nn.init.constant_(network.weight, value)
        average.update(network)
    with average.applied(network):
        inside = network.weight.item()
    assert 0 < inside < 1
    assert torch.equal(network.weight, torch.ones(1, 1))

from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chmcnn.constraint import max_constraint, mc_loss
from chmcnn.datasets.synthetic import Rectangles, nine_rectangles, two_rectangles
from chmcnn.experiments import batched
from chmcnn.nn import MLP

PROBLEMS = [two_rectangles(step, rows=400, seed=step) for step in (1, 5, 9)]
NINE = [nine_rectangles(rows=400, seed=seed) for seed in (0, 1)]
Loss = Callable[[Tensor, Tensor], Tensor]


def alone(problem: Rectangles, loss: Loss, seed: int, hidden: int, epochs: int) -> MLP:
    """One network, trained as anyone would."""
    points, labels = batched.training_half([problem])
    torch.manual_seed(seed)
    network = MLP(2, labels.shape[-1], widths=(hidden,), dropout=0.0, activation="tanh")
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss(network(points[0]), labels[0]).backward()
        optimizer.step()
    return network


def through_constraint(logits: Tensor, labels: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(max_constraint(logits, NINE[0].hierarchy), labels)


@pytest.mark.parametrize(
    ("problems", "loss", "hidden", "epochs"),
    [
        (PROBLEMS, F.binary_cross_entropy_with_logits, 4, 200),
        (PROBLEMS, partial(mc_loss, hierarchy=PROBLEMS[0].hierarchy), 4, 200),
        (NINE, through_constraint, 7, 50),  # rounding decides which of two equal scores is the maximum
    ],
)
def test_networks_trained_together_are_those_trained_alone(
    problems: list[Rectangles], loss: Loss, hidden: int, epochs: int
) -> None:
    points, labels = batched.training_half(problems)
    seeds = [3, 7, 11][: len(problems)]
    together = batched.train(points, labels, loss, seeds=seeds, hidden=hidden, epochs=epochs)
    for problem, seed, network in zip(problems, seeds, together, strict=True):
        expected = alone(problem, loss, seed, hidden, epochs).state_dict()
        for name, values in network.state_dict().items():
            torch.testing.assert_close(values, expected[name], atol=1e-3, rtol=1e-3)


def test_training_leaves_the_generator_alone_and_counts_its_steps() -> None:
    points, labels = batched.training_half(PROBLEMS[:1])
    state, steps = torch.get_rng_state(), []
    batched.train(points, labels, F.mse_loss, seeds=[0], hidden=2, epochs=7, progress=lambda: steps.append(1))
    assert len(steps) == 7
    assert torch.equal(torch.get_rng_state(), state)


def test_the_halves_are_all_points() -> None:
    problem = PROBLEMS[0]
    points, labels = batched.training_half([problem])
    others, truth = batched.test_half(problem)
    assert torch.equal(torch.cat([points[0], others]), torch.tensor(problem.X, dtype=torch.float32))
    assert torch.equal(torch.cat([labels[0].bool(), truth]), torch.tensor(problem.Y))


def test_a_network_comes_back_from_its_weights() -> None:
    network = alone(PROBLEMS[0], F.mse_loss, seed=0, hidden=4, epochs=1)
    again = batched.network(batched.weights(network))
    assert torch.equal(batched.grid(network, 11), batched.grid(again, 11))


def test_the_first_axis_of_a_grid_is_y() -> None:
    values = batched.grid(nn.Identity(), size=3)
    assert torch.equal(values[2, 0], torch.sigmoid(torch.tensor([0.0, 1.0])))

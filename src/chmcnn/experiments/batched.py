"""Many small networks at once: what each would be if it were trained alone, in a fraction of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import stack_module_state

from chmcnn._workers import limit_threads
from chmcnn.nn import MLP
from chmcnn.training import seed_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chmcnn.datasets.synthetic import Rectangles


def training_half(problems: Sequence[Rectangles]) -> tuple[Tensor, Tensor]:
    """Points and labels for `train`: the first half of each problem, the other is for the test."""
    points = np.stack([problem.X[: len(problem.X) // 2] for problem in problems])
    labels = np.stack([problem.Y[: len(problem.Y) // 2] for problem in problems])
    return torch.tensor(points, dtype=torch.float32), torch.tensor(labels, dtype=torch.float32)


def test_half(problem: Rectangles) -> tuple[Tensor, Tensor]:
    """Points and labels of the other half: (rows, 2) and (rows, classes)."""
    points, labels = problem.X[len(problem.X) // 2 :], problem.Y[len(problem.Y) // 2 :]
    return torch.tensor(points, dtype=torch.float32), torch.tensor(labels)


@limit_threads(1)  # small networks gain nothing from two, and lose much on a busy machine
def train(
    points: Tensor,
    labels: Tensor,
    loss: Callable[[Tensor, Tensor], Tensor],
    *,
    seeds: Sequence[int],
    hidden: int,
    epochs: int,
    progress: Callable[[], object] | None = None,
) -> list[MLP]:
    """Train as the paper does: one layer of tanh units, Adam at 0.01, each epoch one step on all points.

    Adam treats every weight alone, and so training the networks together changes none of them.

    Parameters
    ----------
    points, labels
        What each network is shown: (networks, rows, features) and (networks, rows, classes), both float32.
    loss
        A mean over networks, rows and classes, of logits and labels.
    seeds
        Draws the weights that each network starts with.
    hidden
        Number of hidden units.
    epochs
        Number of steps.
    progress
        Called after each.

    Examples
    --------
    >>> points = torch.tensor([[[0.0], [1.0]]])
    >>> bce = torch.nn.functional.binary_cross_entropy_with_logits
    >>> (network,) = train(points, points, bce, seeds=[0], hidden=2, epochs=100)
    >>> (network(points) > 0).flatten().tolist()
    [False, True]
    """
    networks = [_new(points.shape[-1], hidden, labels.shape[-1], seed) for seed in seeds]
    stacked, _ = stack_module_state(networks)
    optimizer = torch.optim.Adam(stacked.values(), lr=1e-2, fused=True)
    columns = points.transpose(1, 2).contiguous()  # (networks, features, rows): long stretches of memory are faster
    for _ in range(epochs):
        optimizer.zero_grad()
        (loss(_logits(stacked, columns), labels) * len(networks)).backward()  # the sum of what is each one's mean
        optimizer.step()
        if progress:
            progress()
    for at, network in enumerate(networks):
        network.load_state_dict({name: values[at] for name, values in stacked.items()})
    return networks


def _new(features: int, hidden: int, classes: int, seed: int) -> MLP:
    with torch.random.fork_rng():
        seed_torch(seed)
        return MLP(features, classes, widths=(hidden,), dropout=0.0, activation="tanh")


def _logits(weights: dict[str, Tensor], columns: Tensor) -> Tensor:
    """What the networks give: (networks, rows, classes).

    tanh(x) is 2 sigmoid(2x) - 1, and torch's sigmoid is several times as fast; what that takes is done to the weights.
    """
    first, second = weights["0.weight"], weights["3.weight"]
    units = torch.sigmoid(torch.baddbmm(2 * weights["0.bias"][..., None], 2 * first, columns))
    bias = weights["3.bias"][..., None] - second.sum(dim=-1, keepdim=True)
    return torch.baddbmm(bias, 2 * second, units).transpose(1, 2)


def weights(network: nn.Module) -> dict[str, Any]:
    """The weights of a network, for JSON."""
    return {name: values.tolist() for name, values in network.state_dict().items()}


def network(weights: Mapping[str, Any]) -> MLP:
    """The network that `weights` were taken of.

    >>> first = MLP(2, 3, widths=(4,), dropout=0.0, activation="tanh")
    >>> torch.equal(network(weights(first))(torch.ones(1, 2)), first(torch.ones(1, 2)))
    True
    """
    tensors = {name: torch.tensor(values) for name, values in weights.items()}
    hidden, features = tensors["0.weight"].shape
    made = _new(features, hidden, len(tensors["3.bias"]), seed=0)
    made.load_state_dict(tensors)
    return made


def grid(network: nn.Module, size: int = 201) -> Tensor:
    """What a network says of the unit square, as probabilities: (size, size, classes); the first axis is y."""
    points = torch.cartesian_prod(*[torch.linspace(0, 1, size)] * 2).flip(1)
    with torch.no_grad():
        return torch.sigmoid(network(points)).reshape(size, size, -1)

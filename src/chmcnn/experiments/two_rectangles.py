"""C-HMCNN(h) on two rectangles: it should delegate B to A where that helps, and only there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from chmcnn.constraint import delegates, max_constraint
from chmcnn.datasets.synthetic import Rectangles, two_rectangles
from chmcnn.nn import MLP, MCLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

_GRID = 201


@dataclass(frozen=True, slots=True)
class Result:
    """What a trained network says, of its test points and of a grid over the unit square."""

    problem: Rectangles
    step: int
    delegated: float  # share of the test points of A whose prediction for B is delegated to A
    accuracy: float  # share of the test points for which both classes are right at the threshold 0.5
    violations: tuple[int, int]  # of the network h, and with the constraint on top
    h: NDArray[np.float64]  # (grid, grid, classes) probabilities of the network alone; the first axis is y
    constrained: NDArray[np.float64]  # the same with the constraint


def run(step: int, *, epochs: int = 20_000, seed: int = 0, progress: Callable[[], object] | None = None) -> Result:
    """Train as the paper does: 4 hidden tanh units, Adam at 0.01, each epoch one step on all training points."""
    problem = two_rectangles(step, seed=seed)
    points = torch.tensor(problem.X, dtype=torch.float32)
    labels = torch.tensor(problem.Y)
    train, test = slice(None, len(points) // 2), slice(len(points) // 2, None)
    network = _train(points[train], labels[train], problem, epochs, seed, progress)
    with torch.no_grad():
        logits = network(points[test])
        grid = torch.cartesian_prod(*[torch.linspace(0, 1, _GRID)] * 2).flip(1)
        on_grid = network(grid).reshape(_GRID, _GRID, -1)
    a, b = (problem.hierarchy.index(name) for name in "AB")
    in_a = labels[test, a]
    constrained = max_constraint(logits, problem.hierarchy)
    return Result(
        problem=problem,
        step=step,
        delegated=float((delegates(logits, problem.hierarchy)[in_a, b] == a).double().mean()),
        accuracy=float(((constrained > 0) == labels[test]).all(dim=1).double().mean()),
        violations=(len(problem.hierarchy.violations(logits)), len(problem.hierarchy.violations(constrained))),
        h=torch.sigmoid(on_grid).double().numpy(),
        constrained=torch.sigmoid(max_constraint(on_grid, problem.hierarchy)).double().numpy(),
    )


def _train(  # noqa: PLR0913, PLR0917
    points: torch.Tensor,
    labels: torch.Tensor,
    problem: Rectangles,
    epochs: int,
    seed: int,
    progress: Callable[[], object] | None,
) -> MLP:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = MLP(2, 2, widths=(4,), dropout=0.0, activation="tanh")
    loss = MCLoss(problem.hierarchy)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss(network(points), labels).backward()
        optimizer.step()
        if progress:
            progress()
    return network

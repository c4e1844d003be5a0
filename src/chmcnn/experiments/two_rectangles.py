"""Three kinds of network on two rectangles: C-HMCNN(h) should delegate B to A where that helps, and only there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chmcnn import metrics
from chmcnn.constraint import delegates, max_constraint, mc_loss, min_constraint
from chmcnn.datasets.synthetic import Rectangles, two_rectangles
from chmcnn.experiments import batched

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from chmcnn.nn import MLP

Kind = Literal["f", "g", "h"]
"""f learns A and B, g learns A and B without A, h learns A and B with the paper's loss."""
SYSTEMS: dict[Kind, str] = {"f": "f+", "g": "g+", "h": "C-HMCNN(h)"}
"""What each is called with its correction."""
KINDS = tuple(SYSTEMS)


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


def run(
    steps: Sequence[int], *, epochs: int = 20_000, seed: int = 0, progress: Callable[[], object] | None = None
) -> list[Result]:
    """Train a network h at each step, all at once."""
    problems = [two_rectangles(step, seed=seed) for step in steps]
    networks = train("h", problems, seeds=[seed] * len(problems), epochs=epochs, progress=progress)
    return [_result(*each) for each in zip(steps, problems, networks, strict=True)]


def _result(step: int, problem: Rectangles, network: nn.Module) -> Result:
    points, labels = batched.test_half(problem)
    with torch.no_grad():
        logits = network(points)
    constrained = corrected("h", logits, problem)
    alone = batched.grid(network)
    return Result(
        problem=problem,
        step=step,
        delegated=delegated(network, problem),
        accuracy=float(((constrained > 0) == labels).all(dim=1).double().mean()),
        violations=(len(problem.hierarchy.violations(logits)), len(problem.hierarchy.violations(constrained))),
        h=alone.double().numpy(),
        constrained=corrected("h", alone, problem).double().numpy(),
    )


def train(
    kind: Kind,
    problems: Sequence[Rectangles],
    *,
    seeds: Sequence[int],
    epochs: int,
    progress: Callable[[], object] | None = None,
) -> list[MLP]:
    """Train one network of 4 hidden units on each problem."""
    hierarchy = problems[0].hierarchy
    points, labels = batched.training_half(problems)
    if kind == "g":
        a, b = (hierarchy.index(name) for name in "AB")
        labels[..., b] -= labels[..., a]
    loss = partial(mc_loss, hierarchy=hierarchy) if kind == "h" else F.binary_cross_entropy_with_logits
    return batched.train(points, labels, loss, seeds=seeds, hidden=4, epochs=epochs, progress=progress)


def corrected(kind: Kind, scores: Tensor, problem: Rectangles) -> Tensor:
    """Scores of A and B that are coherent: f+ lowers A to B, the others raise B to A."""
    return (min_constraint if kind == "f" else max_constraint)(scores, problem.hierarchy)


def auprc(kind: Kind, network: nn.Module, problem: Rectangles) -> float:
    """AU(PRC) of A and B on the test points, with the correction."""
    points, labels = batched.test_half(problem)
    with torch.no_grad():
        return metrics.auprc(labels, corrected(kind, network(points), problem))


def delegated(network: nn.Module, problem: Rectangles) -> float:
    """Share of the test points of A whose prediction for B is delegated to A."""
    points, labels = batched.test_half(problem)
    a, b = (problem.hierarchy.index(name) for name in "AB")
    with torch.no_grad():
        index = delegates(network(points[labels[:, a]]), problem.hierarchy)
    return float((index[:, b] == a).double().mean())

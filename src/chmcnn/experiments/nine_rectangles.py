"""The paper's nine rectangles: the same network and constraint, trained with MCLoss and with plain cross-entropy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F

from chmcnn import datasets, metrics
from chmcnn.constraint import max_constraint, mc_loss
from chmcnn.experiments import _parts, batched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn.hierarchy import Hierarchy

SHOWN = 6
"""Which network is drawn: that of the 6th best run."""


@dataclass(frozen=True, slots=True)
class NineRectangles:
    """By loss: AU(PRC) on the test points of each run, and probabilities of A5 over the unit square, with y first."""

    auprc: Mapping[str, NDArray[np.float64]]  # (runs,)
    shown: Mapping[str, NDArray[np.float32]]  # (grid, grid), of the 6th best run, or of the last if there are fewer
    epochs: int


def _bce(logits: Tensor, labels: Tensor, hierarchy: Hierarchy) -> Tensor:
    return F.binary_cross_entropy_with_logits(max_constraint(logits, hierarchy), labels)


LOSSES: dict[str, Callable[..., Tensor]] = {"MCLoss": mc_loss, "BCE": _bce}
"""The loss of the paper, and plain cross-entropy through the constraint."""


def run(
    folder: Path,
    *,
    epochs: int = 20_000,
    runs: int = 10,
    command: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Train networks of 7 hidden units, with a seed for each run's points and weights; one file for each loss."""
    parts = {name: partial(_measured, name, epochs, runs) for name in LOSSES}
    settings = _coordinates() | {"epochs": epochs, "runs": runs}
    _parts.run(folder, parts, settings=settings, steps=epochs, command=command, progress=progress)


def collect(folder: Path) -> NineRectangles | None:
    """The results in a folder; None if they are not all there."""
    found = _parts.collect(folder, LOSSES, _coordinates())
    if len(found) < len(LOSSES):
        return None
    results = {name: each["result"] for name, each in found.items()}
    return NineRectangles(
        auprc={name: np.array(result["auprc"]) for name, result in results.items()},
        shown={name: _shown(result) for name, result in results.items()},
        epochs=found["BCE"]["settings"]["epochs"],
    )


def _coordinates() -> dict[str, int | str]:
    return _parts.coordinates(datasets.synthetic.nine_rectangles(rows=1))


def _measured(loss: str, epochs: int, runs: int, advance: Callable[[], object]) -> dict[str, Any]:
    seeds = range(runs)
    problems = [datasets.synthetic.nine_rectangles(seed=seed) for seed in seeds]
    hierarchy = problems[0].hierarchy
    points, labels = batched.training_half(problems)
    networks = batched.train(
        points,
        labels,
        partial(LOSSES[loss], hierarchy=hierarchy),
        seeds=seeds,
        hidden=7,
        epochs=epochs,
        progress=advance,
    )
    scores = []
    for network, problem in zip(networks, problems, strict=True):
        points, labels = batched.test_half(problem)
        with torch.no_grad():
            scores.append(metrics.auprc(labels, max_constraint(network(points), hierarchy)))
    return {"seeds": list(seeds), "auprc": scores, "networks": [batched.weights(network) for network in networks]}


def _shown(result: Mapping[str, Any]) -> NDArray[np.float32]:
    best_first = np.argsort(result["auprc"])[::-1]
    network = batched.network(result["networks"][best_first[:SHOWN][-1]])
    hierarchy = datasets.synthetic.nine_rectangles(rows=1).hierarchy
    on_grid = max_constraint(batched.grid(network), hierarchy)
    return on_grid[..., hierarchy.index("A5")].numpy()

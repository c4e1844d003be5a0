"""What the constraint costs, against no constraint and against the paper's dense formula.

python -m benchmarks.cost
"""

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from tests import dense
from torch import Tensor

from benchmarks import shapes
from benchmarks.measure import peak_bytes, save, seconds
from chmcnn import Hierarchy
from chmcnn.constraint import max_constraint
from chmcnn.nn import MLP, MCLoss

BATCHES = (4, 64, 256)
HIDDEN = 1000
FEATURES = 77
LARGEST_DENSE = 2 << 30
"""Bytes of one (rows, classes, classes) tensor of float64: a step of the dense formula holds several of them."""

Call = Callable[[], object]


def main() -> None:
    """Measure everything, and write it to results/cost.json."""
    rows: list[dict[str, Any]] = []
    for name in ("FunCat", "GO"):
        hierarchy, origin = shapes.load(name)
        for batch in BATCHES:
            for what, calls in {
                "layer": layer,
                "layer and gradient": layer_and_gradient,
                "training step": step,
            }.items():
                for system, (time, memory) in compare(calls(hierarchy, batch)).items():
                    row = {"hierarchy": name, "origin": origin, "batch": batch, "what": what, "system": system}
                    rows.append(row | {"milliseconds": time * 1e3, "peak_mib": memory / 2**20})
                    print(f"{name:7} {batch:4} {what:20} {system:12} {time * 1e3:10.3f} ms {memory / 2**20:10.1f} MiB")
    print(save("cost", "python -m benchmarks.cost", rows))


def compare(calls: dict[str, Call]) -> dict[str, tuple[float, int]]:
    """Time and peak memory of each call; the dense formula right after the others, which it would slow down."""
    slow = {system: call for system, call in calls.items() if system.startswith("dense")}
    quick = {system: call for system, call in calls.items() if system not in slow}
    times = seconds(quick, rounds=100) | seconds(slow, rounds=5, warm_up=1)
    return {system: (times[system], peak_bytes(call)) for system, call in calls.items()}


def layer(hierarchy: Hierarchy, batch: int) -> dict[str, Call]:
    """MCM alone, without a gradient."""
    return _layers(hierarchy, torch.rand(batch, len(hierarchy)), lambda out: out)


def layer_and_gradient(hierarchy: Hierarchy, batch: int) -> dict[str, Call]:
    """MCM alone, forward and backward."""
    scores = torch.rand(batch, len(hierarchy), requires_grad=True)
    return _layers(hierarchy, scores, lambda out: torch.autograd.grad(out.sum(), scores))


def _layers(hierarchy: Hierarchy, scores: Tensor, then: Callable[[Tensor], object]) -> dict[str, Call]:
    calls: dict[str, Call] = {
        "chmcnn": lambda: then(max_constraint(scores, hierarchy)),
        "chmcnn, torch alone": _in_torch_alone(lambda: then(max_constraint(scores, hierarchy))),
    }
    if _fits(hierarchy, scores):
        mask = dense.subclass_mask(hierarchy)
        calls["dense float64"] = lambda: then(dense.max_constraint(scores.double(), mask))
        calls["dense float32"] = lambda: then(dense.max_constraint(scores, mask.float()))
    return calls


def step(hierarchy: Hierarchy, batch: int) -> dict[str, Call]:
    """One step of training: forward, loss, backward, fused Adam. Two hidden layers of 1000, as for cellcycle_GO."""
    random = np.random.default_rng(0)
    x = torch.randn(batch, FEATURES)
    chosen = random.choice(hierarchy.classes, size=(batch, 3))
    y = torch.tensor(hierarchy.encode([set(names.tolist()) for names in chosen])).float()
    loss = MCLoss(hierarchy)
    calls = {
        "plain BCE": _training(hierarchy, x, lambda logits: F.binary_cross_entropy_with_logits(logits, y)),
        "chmcnn": _training(hierarchy, x, lambda logits: loss(logits, y)),
        "chmcnn, torch alone": _in_torch_alone(_training(hierarchy, x, lambda logits: loss(logits, y))),
    }
    if _fits(hierarchy, y):
        mask = dense.subclass_mask(hierarchy)
        calls["dense float64"] = _training(
            hierarchy, x, lambda logits: dense.mc_loss(logits.double().sigmoid(), y.double(), mask).mean()
        )
        calls["dense float32"] = _training(
            hierarchy, x, lambda logits: dense.mc_loss(logits.sigmoid(), y, mask.float()).mean()
        )
    return calls


def _training(hierarchy: Hierarchy, x: Tensor, loss: Callable[[Tensor], Tensor]) -> Call:
    torch.manual_seed(0)
    network = MLP(FEATURES, len(hierarchy), widths=(HIDDEN, HIDDEN))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, weight_decay=1e-5, fused=True)

    def once() -> None:
        optimizer.zero_grad()
        loss(network(x)).backward()
        optimizer.step()

    return once


def _in_torch_alone(call: Call) -> Call:
    def once() -> object:
        with mock.patch("chmcnn._plan._kernel", None):
            return call()

    return once


def _fits(hierarchy: Hierarchy, scores: Tensor) -> bool:
    return scores.numel() * len(hierarchy) * 8 <= LARGEST_DENSE


if __name__ == "__main__":
    main()

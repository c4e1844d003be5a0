"""Cost of the constraint, relative to no constraint and to the paper's dense formula.

python -m benchmarks.cost

All times are processor times on one thread, which other processes disturb less than the clock.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F
from tests import dense
from torch import Tensor

from benchmarks import shapes
from benchmarks.measure import save, seconds, seconds_in_pairs
from chmcnn import Hierarchy
from chmcnn.constraint import _delegates, max_constraint
from chmcnn.experiments._memory import peak_bytes
from chmcnn.nn import MLP, MCLoss

BATCHES = (4, 64, 256)
ROUNDS = 60
HIDDEN = 1000
FEATURES = 77
PLAIN, OURS, TORCH_ALONE = "plain BCE", "chmcnn", "chmcnn, torch alone"
DENSE = {"dense float64": torch.float64, "dense float32": torch.float32}
LARGEST_DENSE = 2 << 30
"""Bytes of one (rows, classes, classes) tensor of float64: a step of the dense formula holds several of them."""

Call = Callable[[], object]
Loss = Callable[[Tensor], Tensor]


def main() -> None:
    """Measure everything, and write it to results/cost.json."""
    parts = {
        "layer": layer,
        "layer and gradient": layer_and_gradient,
        "loss and gradient": loss_and_gradient,
        "training step": step,
    }
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for name in ("FunCat", "GO"):
        hierarchy, origin = shapes.load(name)
        for batch in BATCHES:
            for what, part in parts.items():
                for row in compare(part(hierarchy, batch)):
                    rows.append({"hierarchy": name, "origin": origin, "batch": batch, "what": what} | row)
                    print(rows[-1], flush=True)
    print(save("cost", "python -m benchmarks.cost", rows))


def compare(calls: dict[str, Call]) -> list[dict[str, Any]]:
    """Time and peak memory of each call, and its time relative to plain BCE, in pairs with it.

    The dense formula runs last, because it would slow down the others.
    """
    slow = {system: call for system, call in calls.items() if system in DENSE}
    fast = {system: call for system, call in calls.items() if system not in slow}
    rows = _compare_with_plain(fast) if PLAIN in fast else _time(fast, ROUNDS)
    rows |= _time(slow, 3, warm_up=1)
    return [rows[system] | {"peak_mib": peak_bytes(call) / 2**20} for system, call in calls.items()]


def _compare_with_plain(calls: dict[str, Call]) -> dict[str, dict[str, Any]]:
    times = seconds_in_pairs(calls, PLAIN, rounds=ROUNDS, clock=time.process_time)
    return {
        system: {"system": system, "milliseconds": median * 1e3, "times_plain": ratio}
        for system, (median, ratio) in times.items()
    }


def _time(calls: dict[str, Call], rounds: int, *, warm_up: int = 5) -> dict[str, dict[str, Any]]:
    times = seconds(calls, rounds=rounds, warm_up=warm_up, clock=time.process_time)
    return {system: {"system": system, "milliseconds": statistics.median(each) * 1e3} for system, each in times.items()}


def layer(hierarchy: Hierarchy, batch: int) -> dict[str, Call]:
    """MCM on fixed scores, without a gradient."""
    return _layers(hierarchy, torch.rand(batch, len(hierarchy)), lambda out: out)


def layer_and_gradient(hierarchy: Hierarchy, batch: int) -> dict[str, Call]:
    """MCM on fixed scores, forward and backward."""
    scores = torch.rand(batch, len(hierarchy), requires_grad=True)
    return _layers(hierarchy, scores, lambda out: torch.autograd.grad(out.sum(), scores))


def loss_and_gradient(hierarchy: Hierarchy, batch: int) -> dict[str, Call]:
    """The loss on fixed logits, forward and backward."""
    logits = torch.randn(batch, len(hierarchy), requires_grad=True)
    return _with_losses(hierarchy, batch, lambda loss: lambda: torch.autograd.grad(loss(logits), logits))


def step(hierarchy: Hierarchy, batch: int) -> dict[str, Call]:
    """One step of training: forward, loss, backward, fused Adam. Two hidden layers of 1000, as for cellcycle_GO."""
    x = torch.randn(batch, FEATURES)

    def training(loss: Loss) -> Call:
        torch.manual_seed(0)
        network = MLP(FEATURES, len(hierarchy), widths=(HIDDEN, HIDDEN))
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, weight_decay=1e-5, fused=True)

        def once() -> None:
            optimizer.zero_grad()
            loss(network(x)).backward()
            optimizer.step()

        return once

    return _with_losses(hierarchy, batch, training)


def _layers(hierarchy: Hierarchy, scores: Tensor, then: Callable[[Tensor], object]) -> dict[str, Call]:
    def ours() -> object:
        return then(max_constraint(scores, hierarchy))

    def theirs(mask: Tensor) -> Call:
        return lambda: then(dense.max_constraint(scores.to(mask.dtype), mask))

    calls: dict[str, Call] = {OURS: ours, TORCH_ALONE: _in_torch_alone(ours)}
    return calls | {system: theirs(mask) for system, mask in _dense_masks(hierarchy, len(scores)).items()}


def _with_losses(hierarchy: Hierarchy, batch: int, use: Callable[[Loss], Call]) -> dict[str, Call]:
    chosen = np.random.default_rng(0).choice(hierarchy.classes, size=(batch, 3))
    labels = torch.tensor(hierarchy.encode([set(names.tolist()) for names in chosen]))  # boolean, as in a training
    y = labels.float()  # what the others need
    module = MCLoss(hierarchy)

    def plain(logits: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(logits, y)

    def ours(logits: Tensor) -> Tensor:
        loss: Tensor = module(logits, labels)
        return loss

    def theirs(mask: Tensor) -> Loss:
        return lambda logits: dense.mc_loss(logits.to(mask.dtype).sigmoid(), y.to(mask.dtype), mask).mean()

    calls = {PLAIN: use(plain), OURS: use(ours), TORCH_ALONE: _in_torch_alone(use(ours))}
    return calls | {system: use(theirs(mask)) for system, mask in _dense_masks(hierarchy, batch).items()}


def _in_torch_alone(call: Call) -> Call:
    without_numba = mock.patch.object(_delegates, "_kernel", None)  # made once: its time would count

    def once() -> object:
        with without_numba:
            return call()

    return once


def _dense_masks(hierarchy: Hierarchy, batch: int) -> dict[str, Tensor]:
    if batch * len(hierarchy) ** 2 * 8 > LARGEST_DENSE:
        return {}
    mask = dense.subclass_mask(hierarchy)
    return {system: mask.to(dtype) for system, dtype in DENSE.items()}


if __name__ == "__main__":
    main()

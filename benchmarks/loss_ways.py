"""Compare ways to compute the loss and its gradient, on the Gene Ontology, relative to plain binary cross-entropy.

python -m benchmarks.loss_ways
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks import shapes
from benchmarks.cost import BATCHES, PLAIN, ROUNDS
from benchmarks.measure import save, seconds_in_pairs
from chmcnn import Hierarchy
from chmcnn.constraint import _delegates, _functions
from chmcnn.constraint._loss_by_level import Memory
from chmcnn.nn import MCLoss

WITHOUT_NUMBA = mock.patch.object(_delegates, "_kernel", None)
BY_DELEGATES = mock.patch.object(_functions, "fused_loss", return_value=None)
CHANGES: dict[str, list[Any]] = {
    "torch: delegates, then the loss of their logits": [BY_DELEGATES, WITHOUT_NUMBA],
    "torch: loss and gradient together": [mock.patch.object(Memory, "of", Memory), WITHOUT_NUMBA],
    "torch: the same, in memory that is kept": [WITHOUT_NUMBA],
    "numba: delegates, then the loss of their logits": [BY_DELEGATES],
    "numba: loss and gradient together": [],
}
"""What each way leaves out of the code, in the order in which the ways were found."""


def main() -> None:
    """Measure every way, and write results/loss_ways.json."""
    torch.set_num_threads(1)
    hierarchy, origin = shapes.load("GO")
    rows: list[dict[str, Any]] = []
    for batch in BATCHES:
        times = seconds_in_pairs(calls(hierarchy, batch), PLAIN, rounds=ROUNDS, clock=time.process_time)
        for way in CHANGES:
            _, ratio = times[way]
            rows.append({"origin": origin, "batch": batch, "way": way, "times_plain": ratio})
            print(f"{batch:5} {way:50} {ratio:6.2f}", flush=True)
    print(save("loss_ways", "python -m benchmarks.loss_ways", rows))


def calls(hierarchy: Hierarchy, batch: int) -> dict[str, Callable[[], object]]:
    """Return the ways, by name, and plain cross-entropy."""
    logits = torch.randn(batch, len(hierarchy), requires_grad=True)
    chosen = np.random.default_rng(0).choice(hierarchy.classes, size=(batch, 3))
    labels = torch.tensor(hierarchy.encode([set(names.tolist()) for names in chosen]))
    y, module = labels.float(), MCLoss(hierarchy)

    def plain() -> object:
        return torch.autograd.grad(F.binary_cross_entropy_with_logits(logits, y), logits)

    def ours(patches: list[Any]) -> object:
        for patch in patches:
            patch.start()
        try:
            loss: Tensor = module(logits, labels)
            return torch.autograd.grad(loss, logits)
        finally:
            for patch in patches:
                patch.stop()

    return {PLAIN: plain} | {way: partial(ours, patches) for way, patches in CHANGES.items()}


if __name__ == "__main__":
    main()

"""Growth of cost from a thousand to a million classes, batch 4.

python -m benchmarks.growth
"""

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F

from benchmarks.measure import median_seconds, save
from chmcnn import Hierarchy
from chmcnn.constraint import max_constraint, mc_loss
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.experiments._memory import peak_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH = 4
SIZES = (1_000, 10_000, 100_000, 1_000_000)
DEPTH = 14
EXTRA_EDGES = {"tree": 0.0, "DAG": 0.4}
"""Edges per class beyond those of a tree; the Gene Ontology has 0.4."""


def main() -> None:
    """Measure each size in its own process, and write the results to results/growth.json."""
    rows: list[dict[str, Any]] = []
    for kind, extra in EXTRA_EDGES.items():
        for size in SIZES:
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
                row = {"kind": kind, "classes": size} | process.submit(measure, size, extra).result()
            rows.append(row)
            print("  ".join(f"{key} {value:.4g}" for key, value in row.items() if key != "kind"), kind)
    print(save("growth", "python -m benchmarks.growth", rows))


def measure(size: int, extra: float) -> dict[str, float]:
    """Forward and backward of the layer, of the loss, and of a plain loss, on the same logits."""
    hierarchy, building = build(size, extra)
    logits = torch.randn(BATCH, size, requires_grad=True)
    y = torch.tensor(hierarchy.encode([{hierarchy.classes[row]} for row in range(BATCH)])).float()
    calls: dict[str, Callable[[], object]] = {
        "plain": lambda: torch.autograd.grad(F.binary_cross_entropy_with_logits(logits, y), logits),
        "layer": lambda: torch.autograd.grad(max_constraint(logits, hierarchy).sum(), logits),
        "loss": lambda: torch.autograd.grad(mc_loss(logits, y, hierarchy), logits),
    }
    times = median_seconds(calls, rounds=20, warm_up=3)
    process_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # before the profiler allocates memory
    return {
        "edges": len(hierarchy.edges),
        "building_seconds": building,
        **{f"{name}_milliseconds": value * 1e3 for name, value in times.items()},
        **{f"{name}_peak_mib": peak_bytes(call) / 2**20 for name, call in calls.items()},
        "process_peak_mib": process_peak / 2**10,
    }


def build(size: int, extra: float) -> tuple[Hierarchy, float]:
    """A hierarchy with its columns in random order, as the sorted names of a real one are, and its building time."""
    order = np.random.default_rng(0).permutation(size)
    sorted_by_level = random_hierarchy(size, edges=size - 1 + round(size * extra), depth=DEPTH)
    names, edges = sorted_by_level.classes, order[sorted_by_level.edges]
    del sorted_by_level
    start = time.perf_counter()
    return Hierarchy(names, edges), time.perf_counter() - start


if __name__ == "__main__":
    main()

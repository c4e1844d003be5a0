"""Networks with very many outputs: what the last layer costs, and what helps.

``python -m benchmarks.outputs`` measures a training step of the last layer and its optimizer with 100,000 and 1,000,000
classes, each way in a process of its own. ``accuracy`` compares ranks of the last layer on validation rows of data sets
of the paper; it uses no test rows. Results are stored as they come; repeat the command to go on.
"""

import statistics
import sys
import time
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.measure import RESULTS, peak_mib, run_apart
from benchmarks.presets import validation_score
from benchmarks.shapes import data_folder
from chmcnn import datasets
from chmcnn.nn import MLP

FOLDER = RESULTS / "outputs"
CLASSES = (100_000, 1_000_000)
WIDTH, BATCH, LABELS, STEPS = 512, 64, 60, 5
RANK = 64
WAYS = ("Adam", f"Adam, rank {RANK}", "Adafactor", "SGD")
DATASETS = ("cellcycle_GO",)
RANKS = (None, 32, 64, 128)


def measure(classes: int, way: str) -> dict[str, Any]:
    """Return the times of a step, in seconds, and the memory of the process beyond that before the layer was made."""
    torch.manual_seed(0)
    before = peak_mib()
    network = MLP(WIDTH, classes, widths=(), output_rank=RANK if "rank" in way else None)
    optimizer = _create_optimizer(way, network)
    x, y = torch.randn(BATCH, WIDTH), torch.zeros(BATCH, classes)
    y[:, :LABELS] = 1
    gradients, steps = [], []
    for _ in range(STEPS):
        start = time.perf_counter()
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(network(x), y).backward()
        middle = time.perf_counter()
        optimizer.step()
        gradients.append(middle - start)
        steps.append(time.perf_counter() - middle)
    return {
        "classes": classes,
        "way": way,
        "weights": sum(weights.numel() for weights in network.parameters()),
        "gradient seconds": statistics.median(gradients),
        "optimizer seconds": statistics.median(steps),
        "MiB": peak_mib() - before,
    }


def _create_optimizer(way: str, network: nn.Module) -> torch.optim.Optimizer:
    if way == "Adafactor":
        return torch.optim.Adafactor(network.parameters())
    if way == "SGD":
        return torch.optim.SGD(network.parameters(), lr=0.1)
    return torch.optim.Adam(network.parameters(), fused=True)


def compare_ranks(name: str) -> dict[str, Any]:
    """Return the AU(PRC) on validation rows for each rank of the last layer."""
    data = datasets.load(name, data_dir=data_folder())
    scores = {str(rank): validation_score(data, {"output_rank": rank}) for rank in RANKS}
    return {"dataset": name, "classes": len(data.hierarchy), "validation AU(PRC)": scores}


def main(words: list[str]) -> None:
    """Measure what has no result file yet."""
    if "accuracy" in words:
        for name in DATASETS:
            run_apart(FOLDER / f"accuracy-{name}.json", compare_ranks, name)
        return
    for classes in CLASSES:
        for number, way in enumerate(WAYS):
            run_apart(FOLDER / f"{classes}-{number}.json", measure, classes, way)


if __name__ == "__main__":
    main(sys.argv[1:])

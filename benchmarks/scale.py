"""Large problems: ``python -m benchmarks.scale`` trains an epoch on each, and measures its time and its memory.

Each training is a process of its own. Beside ours is the same network with plain binary cross-entropy, whose labels are
a dense matrix in memory and whose validation scores are computed at once. Results are stored as they come; repeat the
command to go on. `benchmarks.large` trains to the end.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from scipy import sparse

from benchmarks.large_problems import LargeProblem, Size
from benchmarks.measure import RESULTS, peak_mib, run_apart
from chmcnn import CHMCNNClassifier, Hierarchy, metrics
from chmcnn.datasets import Preprocessor, stratify
from chmcnn.estimator import PRESETS
from chmcnn.nn import MLP, SparseMLP, to_sparse_tensor
from chmcnn.training import Settings
from chmcnn.training._optimizer import create_optimizer

FOLDER = RESULTS / "scale"
SIZES = (
    Size(10_000, 4_000),
    Size(40_000, 4_000),
    Size(140_000, 4_000),
    Size(10_000, 20_000),
    Size(40_000, 20_000),
    Size(10_000, 80_000),
    Size(140_000, 40_000, dense=128),
)
VALIDATION = 0.1
MOST_DENSE = 2e9
"""Pairs of a row and a class from which the dense labels are not tried."""


def measure_ours(size: Size) -> dict[str, float]:
    """Train the default for an epoch, and validate it."""
    warm_up()
    problem, data = size.draw(), peak_mib()
    model = CHMCNNClassifier(problem.hierarchy, epochs=1, refit=False, validation=VALIDATION, random_state=0)
    start = time.perf_counter()
    model.fit(problem.x, problem.y)
    seconds = time.perf_counter() - start
    return {
        "data MiB": data,
        "peak MiB": peak_mib(),
        "epoch seconds": model.history_[0].seconds,
        "fit seconds": seconds,
        "AU(PRC)": model.best_score_,
        "weights": sum(weights.numel() for weights in model.network_.parameters()),
    }


def measure_plain(size: Size) -> dict[str, float]:
    """Train the same network for an epoch with plain cross-entropy on dense labels, and validate it."""
    problem, data = size.draw(), peak_mib()
    held = round(VALIDATION * size.rows)
    train, valid = stratify(problem.y, (size.rows - held, held), 0)
    network, settings = _build_same(problem)
    x = Preprocessor().fit_transform(problem.x).astype(np.float32)
    labels = torch.from_numpy(problem.y.toarray())
    optimizer = create_optimizer(network, settings, "cpu")
    start = time.perf_counter()
    for chosen in torch.randperm(len(train)).split(settings.batch_size):
        at = train[chosen.numpy()]
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(network(_batch(x, at)), labels[at].float()).backward()
        optimizer.step()
    network.eval()
    with torch.inference_mode():
        scores = torch.cat(
            [torch.sigmoid(network(_batch(x, at))) for at in np.array_split(valid, len(valid) // 400 + 1)]
        )
    score = metrics.auprc(labels[valid], scores)
    seconds = time.perf_counter() - start
    return {"data MiB": data, "peak MiB": peak_mib(), "epoch seconds": seconds, "AU(PRC)": score}


def warm_up() -> None:
    """Load what libraries load at first use, and compile the loops, which later processes need not do."""
    CHMCNNClassifier(Hierarchy.from_edges([("a", "b")]), epochs=1).fit(np.eye(8), [{"b"}, {"a"}] * 4)


def _build_same(problem: LargeProblem) -> tuple[torch.nn.Module, Settings]:
    """Return the network and the settings that ours has for such a table."""
    rows, columns = problem.x.shape
    default = PRESETS["default"]
    is_sparse = sparse.issparse(problem.x) and default.sparse is not None
    preset = default.sparse or default if is_sparse else default
    options: Any = {"widths": preset.choose_widths(columns), "dropout": preset.choose_dropout(rows)}
    network = (SparseMLP if is_sparse else MLP)(columns, len(problem.hierarchy), **options)
    return network, replace(preset.settings, learning_rate=preset.choose_learning_rate(columns))


def _batch(x: np.ndarray | sparse.csr_array, rows: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(x[rows]) if isinstance(x, np.ndarray) else to_sparse_tensor(x[rows])


def main() -> None:
    """Measure what has no result file yet."""
    for size in SIZES:
        kind = f"{size.dense}-dense" if size.dense else "sparse"
        name = f"{size.rows}x{size.classes}-{kind}"
        run_apart(FOLDER / f"{name}-ours.json", _measure, measure_ours, size)
        if size.rows * size.classes <= MOST_DENSE:
            run_apart(FOLDER / f"{name}-plain.json", _measure, measure_plain, size)


def _measure(measure: Callable[[Size], dict[str, float]], size: Size) -> dict[str, Any]:
    return {**asdict(size), **measure(size)}


if __name__ == "__main__":
    main()

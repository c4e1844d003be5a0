"""Sparse features: ``python -m benchmarks.texts`` compares our default with linear models and neighbours on text.

``CHMCNN_TEXTS`` names the folder of the texts; `benchmarks.text_problems` says where they come from. Each system gets
the same TF-IDF and the same rows, 80% for training and 20% for test, and uses one thread. ``choose`` compares
the preset for sparse features with other settings on validation rows: it uses no test rows.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from benchmarks.text_problems import PROBLEMS, TextProblem, load
from chmcnn import CHMCNNClassifier, metrics
from chmcnn._io.files import atomic
from chmcnn.baselines import system
from chmcnn.constraint import max_constraint
from chmcnn.datasets import Preprocessor
from chmcnn.hierarchy import Hierarchy

RESULTS = Path(__file__).parent / "results" / "texts"
SEEDS = (0, 1, 2)
TEST = 0.2
GRID: list[dict[str, Any]] = [
    {},
    {"dropout": 0.6},
    {"dropout": 0.4},
    {"widths": (1024,)},
    {"learning_rate": 2e-3},
    {"epochs": 16},
    {"schedule": "constant", "epochs": 30},
    {"widths": ()},
]
NEIGHBOURS = 15
Scores = NDArray[np.float32]
Rows = tuple[sparse.csr_array, NDArray[np.bool_]]


def _split(problem: TextProblem, seed: int, share: float) -> tuple[Rows, Rows]:
    """Return training and test rows: TF-IDF and labels."""
    order = np.random.default_rng(seed).permutation(len(problem.texts))
    size = round(share * len(order))
    train, test = order[size:], order[:size]
    preprocessor = Preprocessor().fit([problem.texts[row] for row in train])
    first, second = (preprocessor.transform([problem.texts[row] for row in rows]) for rows in (train, test))
    return (first, problem.labels[train].toarray()), (second, problem.labels[test].toarray())


def _network(name: str, hierarchy: Hierarchy, seed: int, train: Rows, x: sparse.csr_array) -> Scores:
    scores: Scores = system(name)(hierarchy, random_state=seed).fit(*train).predict_proba(x)
    return scores


def _linear_svc(hierarchy: Hierarchy, seed: int, train: Rows, x: sparse.csr_array) -> Scores:
    model = OneVsRestClassifier(LinearSVC(random_state=seed)).fit(*train)
    margins = model.decision_function(x).astype(np.float32)
    return max_constraint(torch.from_numpy(margins), hierarchy).numpy()


def _neighbours(_hierarchy: Hierarchy, _seed: int, train: Rows, x: sparse.csr_array) -> Scores:
    """Return the mean labels of the nearest rows by cosine, smoothed by the frequencies of the classes."""
    rows, labels = train
    frequencies, scores = labels.mean(axis=0), np.empty((x.shape[0], labels.shape[1]), dtype=np.float32)
    for start in range(0, x.shape[0], 1000):
        for at, similar in enumerate((x[start : start + 1000] @ rows.T).tocsr(), start):
            near = np.argsort(-similar.data)[:NEIGHBOURS]
            weights = similar.data[near]
            total = weights @ labels[similar.indices[near]] + 0.1 * frequencies
            scores[at] = total / (weights.sum() + 0.1)
    return scores


SYSTEMS: dict[str, Callable[..., Scores]] = {
    "C-HMCNN": partial(_network, "C-HMCNN"),
    "the same network, plain BCE": partial(_network, "f+max"),
    "LinearSVC, closed": _linear_svc,
    "neighbours, smoothed": _neighbours,
}


def measure(labels: NDArray[np.bool_] | sparse.csr_array, scores: Scores) -> dict[str, float]:
    """Return AU(PRC), and the best hierarchical F of one threshold for all classes."""
    curve = metrics.precision_recall_curve(labels, scores)
    sums = curve.precision + curve.recall
    f = np.divide(2 * curve.precision * curve.recall, sums, out=np.zeros_like(sums), where=sums > 0)
    return {"AU(PRC)": metrics.auprc(labels, scores), "hierarchical F": float(f.max())}


def compare(problem: TextProblem, seed: int) -> list[dict[str, Any]]:
    """Return the measures and the processor time of each system, on the same rows, one after the other."""
    train, test = _split(problem, seed, TEST)
    results = []
    for name, predict in SYSTEMS.items():
        start = time.process_time()
        scores = predict(problem.hierarchy, seed, train, test[0])
        seconds = time.process_time() - start
        violations = metrics.violations(scores, problem.hierarchy).number
        figures = {**measure(test[1], scores), "processor seconds": seconds, "violations": violations}
        results.append({"problem": problem.name, "seed": seed, "system": name, **figures})
    return results


def choose(problem: TextProblem, options: dict[str, Any]) -> dict[str, Any]:
    """Return the measures of other settings on a fifth of the training rows of seed 0, after training on the others."""
    train, _ = _split(problem, 0, TEST)
    rows = np.random.default_rng(1).permutation(len(train[1]))
    held, others = np.split(rows, [len(rows) // 5])
    start = time.process_time()
    model = CHMCNNClassifier(problem.hierarchy, random_state=0, **options).fit(train[0][others], train[1][others])
    seconds = time.process_time() - start
    figures = measure(train[1][held], model.predict_proba(train[0][held]))
    return {
        "problem": problem.name,
        "options": options,
        **figures,
        "processor seconds": seconds,
        "best epoch": model.best_epoch_,
    }


def _run(path: Path, compute: Callable[[], Any]) -> None:
    """Compute and write a result that does not exist."""
    if path.exists():
        return
    result = compute()
    with atomic(path) as temporary:
        temporary.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result), flush=True)


def main(words: list[str]) -> None:
    """Run what has no result file: ``choose`` or the comparison, on all problems or on those that are named."""
    choosing = "choose" in words
    torch.set_num_threads(1)
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in [name for name in words if name in PROBLEMS] or PROBLEMS:
        problem = load(name)
        if choosing:
            for number, options in enumerate(GRID):
                _run(RESULTS / f"choose-{name}-{number}.json", partial(choose, problem, options))
            continue
        for seed in SEEDS:
            _run(RESULTS / f"{name}-{seed}.json", partial(compare, problem, seed))


if __name__ == "__main__":
    main(sys.argv[1:])

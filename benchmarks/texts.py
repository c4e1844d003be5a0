"""Sparse features: ``python -m benchmarks.texts`` compares our default with linear models and neighbours on text.

``CHMCNN_TEXTS`` names the folder of the texts; `benchmarks.text_problems` says where they come from. Each system gets
the same TF-IDF and the same rows, 80% for training and 20% for test, and uses one thread. ``choose`` compares
the preset for sparse features with other settings on rows that are test rows of no seed.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from benchmarks.measure import RESULTS, write
from benchmarks.neighbours import create_neighbours
from benchmarks.text_losses import DelegatesNegatives, add_inner, begin_with_plain, count_delegated, mix
from benchmarks.text_problems import PROBLEMS, TextProblem, load
from chmcnn import metrics
from chmcnn.baselines import system
from chmcnn.constraint import max_constraint
from chmcnn.datasets import Preprocessor
from chmcnn.estimator import HierarchicalClassifier
from chmcnn.hierarchy import Hierarchy

FOLDER = RESULTS / "texts"
BY_WORDS = RESULTS / "texts_by_words"
"""Results of ``choose`` from before parts of words were features, and before the training adapted its length."""
SEEDS = (0, 1, 2)
CHOICE_SEEDS = (*SEEDS, 3)
"""Seeds of ``choose``: differences between losses are small."""
TEST = 0.2
DEFAULT = "C-HMCNN"
PLAIN = "the same network, plain BCE"
Candidate = tuple[Callable[..., HierarchicalClassifier], dict[str, Any]]
NETWORK, PLAIN_NETWORK = system("C-HMCNN"), system("f+max")
CANDIDATES: dict[str, Candidate] = {
    DEFAULT: (NETWORK, {}),
    PLAIN: (PLAIN_NETWORK, {}),
    "dropout 0.4": (NETWORK, {"dropout": 0.4}),
    "batches of 256 rows": (NETWORK, {"batch_size": 256}),
    "weights averaged over an epoch": (NETWORK, {"averaging": 1}),
    "20 epochs": (NETWORK, {"epochs": 20}),
    "fast": (system("Neighbours"), {"preprocess": False}),
    "neighbours, smoothed": (
        system("Neighbours"),
        {"n_neighbours": 15, "power": 1, "smoothing": 0.1, "preprocess": False},
    ),
    "plain BCE, weights averaged over an epoch": (PLAIN_NETWORK, {"averaging": 1}),
}
"""Systems that ``choose`` compares, and their options."""
LOSSES: dict[str, Candidate] = {
    "plain BCE in the first half of the epochs": (begin_with_plain(1 / 2), {}),
    "plain BCE in the first two thirds": (begin_with_plain(2 / 3), {}),
    "a share of plain BCE that falls from 1 to 0": (mix(lambda done: 1 - done), {}),
    "plain BCE of inner classes added, weight 0.05": (add_inner(0.05), {}),
    "plain BCE of inner classes added, weight 0.1": (add_inner(0.1), {}),
    "plain BCE of inner classes added, weight 0.3": (add_inner(0.3), {}),
    "negatives delegate, positives do not": (DelegatesNegatives, {}),
    "each output counts once in a row": (count_delegated(0.0), {}),
    "classes that delegate count 0.3": (count_delegated(0.3), {}),
    "plain BCE in the first two thirds, weights averaged over an epoch": (begin_with_plain(2 / 3), {"averaging": 1}),
}
"""Other losses of the same network, which ``choose`` compares as well."""
_CHANGES: dict[str, dict[str, Any]] = {
    "learning rate 0.0015": {"learning_rate": 1.5e-3},
    "learning rate 0.006": {"learning_rate": 6e-3},
    "256 units": {"widths": (256,)},
    "1,024 units": {"widths": (1024,)},
    "6 epochs": {"epochs": 6},
    "learning rate 0.00075": {"learning_rate": 7.5e-4},
}
SETTINGS: dict[str, Candidate] = {
    name: (kind, options)
    for change, options in _CHANGES.items()
    for name, kind in ((change, NETWORK), (f"{change}, plain BCE", PLAIN_NETWORK))
}
"""Both losses with the same changed setting, which ``choose`` compares as well."""
_COSINE = {"schedule": "cosine", "averaging": 0.0, "patience": 4}
_CONSTANT = {"schedule": "constant", "averaging": 1.0, "patience": 3}
LENGTHS: dict[str, Candidate] = {
    "10 epochs with a cosine": (NETWORK, {"epochs": 10, **_COSINE}),
    "20 epochs with a cosine": (NETWORK, {"epochs": 20, **_COSINE}),
    "until validation rows gain no more, at most 20 epochs": (NETWORK, {"epochs": 20, **_CONSTANT}),
    "until validation rows gain no more, at most 40 epochs": (NETWORK, {"epochs": 40, **_CONSTANT}),
}
"""How long the network is trained, which ``choose`` compares as well."""
ALL_CANDIDATES = CANDIDATES | LOSSES | SETTINGS | LENGTHS
PAIRS = [
    ("weights averaged over an epoch", "plain BCE, weights averaged over an epoch"),
    *((change, f"{change}, plain BCE") for change in sorted(_CHANGES)),
]
"""Candidates that differ in the loss only."""
Scores = NDArray[np.float32]
Positions = NDArray[np.int64]
Rows = tuple[sparse.csr_array, NDArray[np.bool_]]


def split(size: int, seed: int) -> tuple[Positions, Positions]:
    """Return the training and test rows of a seed."""
    order = np.random.default_rng(seed).permutation(size)
    test = round(TEST * size)
    return order[test:], order[:test]


def split_for_choice(size: int, seed: int) -> tuple[Positions, Positions]:
    """Return training rows, and a fifth as validation rows, among those that are test rows of no seed."""
    usable = np.setdiff1d(np.arange(size), np.concatenate([split(size, each)[1] for each in SEEDS]))
    order = np.random.default_rng(100 + seed).permutation(usable)
    validation = len(order) // 5
    return order[validation:], order[:validation]


def _read_rows(problem: TextProblem, train: Positions, test: Positions) -> tuple[Rows, Rows]:
    """Return TF-IDF and labels of training and test rows; the first ones decide on the words."""
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


def _neighbours(hierarchy: Hierarchy, _seed: int, train: Rows, x: sparse.csr_array) -> Scores:
    """Return the mean labels of the nearest rows by cosine, smoothed by the frequencies of the classes."""
    return create_neighbours(hierarchy).fit(*train).predict_proba(x)


SYSTEMS: dict[str, Callable[..., Scores]] = {
    "C-HMCNN": partial(_network, "C-HMCNN"),
    PLAIN: partial(_network, "f+max"),
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
    train, test = _read_rows(problem, *split(len(problem.texts), seed))
    results = []
    for name, predict in SYSTEMS.items():
        start = time.process_time()
        scores = predict(problem.hierarchy, seed, train, test[0])
        seconds = time.process_time() - start
        violations = metrics.violations(scores, problem.hierarchy).number
        figures = {**measure(test[1], scores), "processor seconds": seconds, "violations": violations}
        results.append({"problem": problem.name, "seed": seed, "system": name, **figures})
    return results


def choose(problem: TextProblem, rows: Callable[[], tuple[Rows, Rows]], candidate: str, seed: int) -> dict[str, Any]:
    """Return the measures of a candidate on validation rows."""
    train, validation = rows()
    kind, options = ALL_CANDIDATES[candidate]
    start = time.process_time()
    model = kind(problem.hierarchy, random_state=seed, **options).fit(*train)
    seconds = time.process_time() - start
    figures = measure(validation[1], model.predict_proba(validation[0]))
    return {
        "problem": problem.name,
        "seed": seed,
        "candidate": candidate,
        **figures,
        "best epoch": getattr(model, "best_epoch_", None),
        "processor seconds": seconds,
    }


def _run(path: Path, compute: Callable[[], Any]) -> None:
    """Compute and write a result that does not exist."""
    if path.exists():
        return
    result = compute()
    write(path, result)
    print(json.dumps(result), flush=True)


def main(words: list[str]) -> None:
    """Run what has no result file: the comparison, or ``choose`` with candidates, by default how long to train."""
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in [name for name in words if name in PROBLEMS] or PROBLEMS:
        problem = load(name)
        if "choose" in words:
            _choose(problem, [name for name in words if name in ALL_CANDIDATES] or list(LENGTHS))
            continue
        for seed in SEEDS:
            _run(FOLDER / f"{name}-{seed}.json", partial(compare, problem, seed))


def _choose(problem: TextProblem, candidates: list[str]) -> None:
    for seed in CHOICE_SEEDS:
        rows = cache(partial(_read_rows, problem, *split_for_choice(len(problem.texts), seed)))
        for candidate in candidates:
            name = re.sub(r"\W+", "_", candidate)
            path = FOLDER / f"choose-{problem.name}-{name}-{seed}.json"
            _run(path, partial(choose, problem, rows, candidate, seed))


if __name__ == "__main__":
    main(sys.argv[1:])

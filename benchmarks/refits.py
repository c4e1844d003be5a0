"""How many epochs a refit should have: ``python -m benchmarks.refits``. Existing result files are not repeated.

Only training and validation rows of a data set are used. A fifth of them is held out to judge on. Of the others, a
quarter decides how many epochs the default network trains. It is then trained anew on all of these others, for up to
twice as many epochs, and judged after each.
"""

import sys
import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.ensembles import load
from benchmarks.markdown import table
from benchmarks.measure import RESULTS, load_all, run_once
from chmcnn import CHMCNNClassifier
from chmcnn.datasets.stratification import stratify

FOLDER = RESULTS / "refits"
DATASETS = (
    "cellcycle_FUN", "derisi_FUN", "eisen_FUN", "gasch1_FUN", "gasch2_FUN", "seq_FUN", "spo_FUN",
    "derisi_GO", "eisen_GO", "enron", "imclef07d",
)  # fmt: skip
SEEDS = (0, 1)
FACTORS = (0.5, 0.75, 1.25, 1.5, 2.0)
"""Epochs of the refit relative to those that the validation rows chose."""


def measure(name: str, seed: int, longest: float = max(FACTORS), least: int = 1, **settings: int) -> dict[str, Any]:
    """Return the scores of all epochs, on the rows that decide and on those that judge.

    The second training has ``longest`` times the best epoch of the first, or ``least`` epochs; ``settings`` are those
    of the first.
    """
    problem, start = load(name), time.process_time()
    size = problem.Y.shape[0] // 5
    fit, decide, judge = stratify(problem.Y, (problem.Y.shape[0] - 2 * size, size, size), seed)
    options: dict[str, Any] = {"evaluated": problem.evaluated, "random_state": seed, "refit": False}
    first = CHMCNNClassifier(problem.hierarchy, **(options | settings))
    first.fit(*problem.take(fit), validation_data=problem.take(decide))
    epochs = max(least, round(longest * first.best_epoch_))
    second = CHMCNNClassifier(problem.hierarchy, epochs=epochs, patience=epochs, **options)
    second.fit(*problem.take(np.concatenate([fit, decide])), validation_data=problem.take(judge))
    return {
        "dataset": name,
        "seed": seed,
        "best epoch": first.best_epoch_,
        "deciding": [epoch.score for epoch in first.history_],
        "judging": [epoch.score for epoch in second.history_],
        "processor seconds": time.process_time() - start,
    }


def report() -> str:
    """Return what shorter and longer refits gain on the rows that judge."""
    runs = load_all(FOLDER)
    if not runs:
        return ""
    lines = [
        {"dataset": run["dataset"], "factor": factor, "score": _score(run, factor)}
        for run in runs
        for factor in (1.0, *FACTORS)
    ]
    scores = pd.DataFrame(lines).pivot_table("score", "dataset", "factor").reindex(DATASETS).dropna()
    cells = [["as chosen", *_describe(scores[1.0], "")]]
    cells += [[f"{factor:g} times", *_describe(scores[factor] - scores[1.0], "+")] for factor in FACTORS]
    seeds = len({run["seed"] for run in runs})
    note = (
        f"AU(PRC) on held-out rows, at most {seeds} seeds, and for the others the difference to as many epochs as "
        "validation rows chose. Run by `python -m benchmarks.refits`."
    )
    return f"{table(['epochs', *scores.index, 'mean'], cells)}\n{note}\n"


def _describe(scores: "pd.Series[float]", sign: str) -> list[str]:
    return [f"{score:{sign}.4f}" for score in (*scores, scores.mean())]


def _score(run: dict[str, Any], factor: float) -> float:
    epochs: list[float] = run["judging"]
    return epochs[min(max(round(factor * float(run["best epoch"])), 1), len(epochs)) - 1]


def main(names: list[str]) -> None:
    """Run what has no result file, on all data sets or on those that are named."""
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS:
        for name in names or DATASETS:
            run_once(FOLDER / f"{name}-{seed}.json", partial(measure, name, seed), "refits")


if __name__ == "__main__":
    main(sys.argv[1:])

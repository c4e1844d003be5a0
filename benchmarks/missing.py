"""What trees of Clus do with missing values: ``python -m benchmarks.missing``. Existing result files are not repeated.

Trees are grown on the training rows of data sets with missing values, and judged on their validation rows, by the best
level of the F-test; test rows are not used. `benchmarks.report` writes the table of docs/findings.md.
"""

import sys
import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from benchmarks import missing_trees
from benchmarks.markdown import table
from benchmarks.measure import RESULTS, load_all, run_once
from benchmarks.shapes import data_folder
from chmcnn import datasets, metrics
from chmcnn.baselines._trees import grow, project_labels, weigh_classes_by_depth
from chmcnn.baselines.clus import LEVELS
from chmcnn.datasets import Preprocessor

FOLDER = RESULTS / "missing"
DATASETS = ("cellcycle_FUN", "eisen_FUN", "gasch1_FUN", "gasch2_FUN", "spo_FUN")
SEEDS = (0, 1, 2)
MEANS, ONE, BOTH = "means", "one branch", "both branches"
CANDIDATES = (MEANS, ONE, BOTH)
SYSTEMS = {"Clus-HMC": 1, "Clus-Ens, 12 trees": 12, "Clus-Ens, 50 trees": 50}


def measure(name: str, system: str, candidate: str, seed: int) -> dict[str, Any]:
    """Return the AU(PRC) on validation rows by the best level, and the processor time of growing and scoring."""
    data = datasets.load(name, data_dir=data_folder())
    preprocessor = Preprocessor().fit(data.train.X)
    x, x_valid = (_encode(preprocessor, rows.X, candidate) for rows in (data.train, data.valid))
    y, trees = data.train.Y.toarray(), SYSTEMS[system]
    class_weights = weigh_classes_by_depth(data.hierarchy, data.evaluated, 0.75)
    start = time.process_time()
    targets = project_labels(y, class_weights, 1.0 if trees == 1 else 0.95)
    totals = np.zeros((len(LEVELS), *data.valid.Y.shape), dtype=np.float32)
    for rows in _draw(len(y), trees, seed):
        if candidate == BOTH:
            drawn, counts = np.unique(rows, return_counts=True)
            single, weights = x[drawn].astype(np.float32), counts.astype(np.float64)
            both = missing_trees.grow(single, y[drawn], targets[drawn], weights, class_weights, seed)
            totals += both.predict(x_valid.astype(np.float32), LEVELS)
        else:
            regressor = DecisionTreeRegressor(min_samples_leaf=missing_trees.LEAST, random_state=seed)
            tree = grow(regressor, x[rows], y[rows], targets[rows], class_weights)
            totals += np.stack([tree.prune(level).predict(x_valid) for level in LEVELS])
    seconds = time.process_time() - start
    return {
        "dataset": name,
        "system": system,
        "candidate": candidate,
        "seed": seed,
        "missing": float(data.train.X.isna().to_numpy().mean()),
        "validation AU(PRC)": max(metrics.auprc(data.valid.Y, each, classes=data.evaluated) for each in totals / trees),
        "processor seconds": seconds,
    }


def _encode(preprocessor: Preprocessor, X: pd.DataFrame, candidate: str) -> NDArray[np.float64]:
    """Return numbers (rows, columns), with NaN for missing numbers and categories unless they get means and zeros."""
    x: NDArray[np.float64] = preprocessor.transform(X)
    if candidate != MEANS:
        x[X.isna().to_numpy()[:, preprocessor.sources_]] = np.nan
    return x


def _draw(rows: int, trees: int, seed: int) -> list[NDArray[np.int64]]:
    """Return the rows of each tree, as Clus-HMC and Clus-Ens draw them."""
    rng = np.random.default_rng(seed)
    return [np.arange(rows)] if trees == 1 else [rng.integers(rows, size=rows) for _ in range(trees)]


def report() -> str:
    """Return a table: with imputed means on validation rows, and by how much others differ on the same rows."""
    runs = pd.DataFrame(load_all(FOLDER))
    shares = runs.groupby("dataset")["missing"].first().reindex(DATASETS)
    cells = [["", "share of all values", *(f"{share:.1%}" for share in shares), "", ""]]
    for system in (name for name in SYSTEMS if name in set(runs["system"])):
        by_run = runs[runs["system"] == system].pivot_table(
            index=["dataset", "seed"], columns="candidate", values=["validation AU(PRC)", "processor seconds"]
        )
        cells += [_cells(system, each, by_run) for each in CANDIDATES if each in by_run["validation AU(PRC)"]]
    note = (
        "AU(PRC) on validation rows, and for the others the difference to means, each with its deviation over seeds, "
        "whose number is in brackets. The mean is over data sets, with the deviation over all runs. Time is "
        "processor time of growing and scoring, relative to means. Run by `python -m benchmarks.missing`."
    )
    return f"{table(['system', 'missing values', *DATASETS, 'mean', 'time'], cells)}\n{note}\n"


def _cells(system: str, candidate: str, by_run: pd.DataFrame) -> list[str]:
    scores, seconds = by_run["validation AU(PRC)"], by_run["processor seconds"]
    imputed = candidate == MEANS
    shown = scores[MEANS] if imputed else (scores[candidate] - scores[MEANS]).dropna()
    groups, sign = dict(iter(shown.groupby("dataset"))), "" if imputed else "+"
    by_dataset = [
        _with_deviation(groups[name], sign) + f" ({len(groups[name])})" if name in groups else "not run"
        for name in DATASETS
    ]
    mean = f"{shown.groupby('dataset').mean().mean():{sign}.4f}"
    mean += "" if imputed else f" ± {shown.std():.4f}"
    time_ratio = seconds[candidate].loc[shown.index].sum() / seconds[MEANS].loc[shown.index].sum()
    return [system, candidate, *by_dataset, mean, f"{time_ratio:.2f}"]


def _with_deviation(values: "pd.Series[float]", sign: str) -> str:
    return f"{values.mean():{sign}.4f}" + (f" ± {values.std():.4f}" if len(values) > 1 else "")


def main(names: list[str]) -> None:
    """Run what has no result file, on all data sets or on those that are named."""
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS:
        for place, system in enumerate(SYSTEMS):
            for name in names or DATASETS:
                for number, candidate in enumerate(CANDIDATES):
                    file = FOLDER / f"{name}-{place}-{number}-{seed}.json"
                    run_once(file, partial(measure, name, system, candidate, seed), "missing")


if __name__ == "__main__":
    main(sys.argv[1:])

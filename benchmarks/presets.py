"""What the presets bring and cost: ``python -m benchmarks.presets``. Existing result files are not repeated.

``python -m benchmarks.presets choose`` runs the grid that the default preset was chosen from. It does not use test
rows: the training and validation rows are split into thirds, and each third is predicted by a model that was trained,
stopped and refitted on the other two. ``python -m benchmarks.presets layers`` compares one hidden layer with two on
the validation rows of tables with many columns, and ``dropout`` compares dropout rates on small and large tables.
"""

import sys
import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.measure import RESULTS, describe_machine, run_once
from benchmarks.shapes import data_folder
from chmcnn import CHMCNNClassifier, datasets, metrics
from chmcnn.ensemble import BestEnsemble, FastEnsemble
from chmcnn.experiments import recipes

FOLDER = RESULTS / "presets"
COMPARED = (
    "cellcycle_FUN", "derisi_FUN", "eisen_FUN", "gasch1_FUN", "gasch2_FUN", "seq_FUN", "spo_FUN",
    "cellcycle_GO", "eisen_GO", "gasch1_GO", "seq_GO", "diatoms", "enron", "imclef07d",
)  # fmt: skip
"""Data sets on which the presets are compared."""
SYSTEMS: dict[str, Any] = {"fast": FastEnsemble, "default": CHMCNNClassifier, "best": BestEnsemble}
CHOSEN_BY = ("cellcycle_FUN", "eisen_FUN", "derisi_FUN", "enron")
"""Data sets whose training and validation rows the default preset was chosen by."""
WIDE = ("gasch1_FUN", "diatoms", "seq_FUN", "seq_GO", "expr_FUN", "expr_GO", "enron")
WIDTHS = ((1000,), (1000, 1000))
LONG = ("imclef07a", "imclef07d", "diatoms", "eisen_FUN")
DROPOUT = (0.3, 0.5, 0.7)
IN_ORDER = "enron, last third"
"""Only the last third of enron is predicted: its rows are in chronological order, and its test rows come last."""
GRID: list[dict[str, Any]] = [
    {},
    {"averaging": 0},
    {"learning_rate": 1e-3},
    {"widths": (1000, 1000)},
]


def compare(name: str) -> dict[str, Any]:
    """Test AU(PRC) and processor time of each preset on one data set, one after the other."""
    data = datasets.load(name, data_dir=data_folder())
    runs = {preset: _run(data, preset) for preset in SYSTEMS}
    return {"dataset": name, "classes": int(data.evaluated.sum()), "presets": runs, "machine": describe_machine()}


def _run(data: datasets.Dataset, preset: str) -> dict[str, Any]:
    model = SYSTEMS[preset](data.hierarchy, evaluated=data.evaluated, random_state=0)
    start = time.process_time()  # less disturbed by other processes than the clock
    model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    return {
        "processor seconds": time.process_time() - start,
        "test AU(PRC)": metrics.auprc(data.test.Y, model.predict_proba(data.test.X), classes=data.evaluated),
        "validation AU(PRC)": model.best_score_,
    }


def choose(number: int) -> dict[str, Any]:
    """Held-out AU(PRC) of one point of the grid, on training and validation rows."""
    scores = {name: held_out(name, GRID[number]) for name in (*CHOSEN_BY, IN_ORDER)}
    return {
        "changed from the preset": GRID[number],
        "held-out AU(PRC)": scores,
        "mean": float(np.mean(list(scores.values()))),
    }


def held_out(name: str, options: dict[str, Any]) -> float:
    """Mean AU(PRC) over thirds of the rows, each predicted by a model trained on the others."""
    data = datasets.load(name.partition(",")[0], data_dir=data_folder())
    X: pd.DataFrame = pd.concat([data.train.X, data.valid.X]).sort_index(kind="stable")
    Y = pd.concat([_labels(data.train), _labels(data.valid)]).sort_index(kind="stable").to_numpy()
    order = np.arange(len(X)) if name == IN_ORDER else np.random.default_rng(0).permutation(len(X))
    scores = []
    for third in np.array_split(order, 3)[-1 if name == IN_ORDER else 0 :]:
        rest = np.random.default_rng(1).permutation(np.setdiff1d(order, third))
        train, valid = np.split(rest, [round(len(rest) * 2 / 3)])
        model = CHMCNNClassifier(data.hierarchy, evaluated=data.evaluated, random_state=0, **options)
        model.fit(X.iloc[train], Y[train], validation_data=(X.iloc[valid], Y[valid]))
        scores.append(metrics.auprc(Y[third], model.predict_proba(X.iloc[third]), classes=data.evaluated))
    return float(np.mean(scores))


def layers(name: str) -> dict[str, Any]:
    """AU(PRC) on the validation rows with one hidden layer and with two.

    The original train files of expr are not available: reconstructed ones are read from ``HMC_data_reconstructed``
    beside the data folder, if they exist.
    """
    train = data_folder().with_name("HMC_data_reconstructed") / f"{name}.train.arff"
    own = {"train": train} if train.is_file() else None
    data = datasets.load(name, data_dir=data_folder(), named=own)
    scores = {str(list(widths)): validation_score(data, {"widths": widths}) for widths in WIDTHS}
    return {
        "dataset": name + recipes.RECONSTRUCTED if own else name,
        "columns": data.train.X.shape[1],
        "validation AU(PRC)": scores,
    }


def dropout(name: str) -> dict[str, Any]:
    """AU(PRC) on the validation rows for each dropout rate."""
    data = datasets.load(name, data_dir=data_folder())
    scores = {str(rate): validation_score(data, {"dropout": rate}) for rate in DROPOUT}
    return {"dataset": name, "rows": len(data.train.X), "validation AU(PRC)": scores}


def validation_score(data: datasets.Dataset, options: dict[str, Any]) -> float:
    """Return the best AU(PRC) on the validation rows of a training with some options."""
    model = CHMCNNClassifier(data.hierarchy, evaluated=data.evaluated, random_state=0, refit=False, **options)
    model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    return model.best_score_


def _labels(table: datasets.Table) -> pd.DataFrame:
    return pd.DataFrame(table.Y.toarray(), index=table.X.index)


def main() -> None:
    """Run the part named on the command line, or compare the presets."""
    if sys.argv[1:2] == ["choose"]:
        for number in map(int, sys.argv[2:] or range(len(GRID))):
            run_once(FOLDER / f"choice-{number}.json", partial(choose, number), "presets")
        return
    for part, measure, names in (("layers", layers, WIDE), ("dropout", dropout, LONG)):
        if sys.argv[1:2] == [part]:
            for name in sys.argv[2:] or names:
                run_once(FOLDER / f"{part}-{name}.json", partial(measure, name), "presets")
            return
    torch.set_num_threads(1)
    for name in sys.argv[1:] or COMPARED:
        run_once(FOLDER / f"compared-{name}.json", partial(compare, name), "presets")


if __name__ == "__main__":
    main()

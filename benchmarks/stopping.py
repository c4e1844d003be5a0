"""When the default network should stop: ``python -m benchmarks.stopping``. Existing result files are not repeated.

It is `benchmarks.refits` with a first training that goes on for 30 epochs after its best one, so that other rules can
be tried on the scores of its epochs: each rule reads those up to some epoch, and chooses one for the second training.
"""

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks import refits
from benchmarks.markdown import table
from benchmarks.measure import RESULTS, load_all, run_once

FOLDER = RESULTS / "stopping"
DATASETS = (*refits.DATASETS, "cellcycle_GO", "spo_GO", "diatoms")
SEEDS = {"diatoms": 2, "derisi_FUN": 6, "spo_FUN": 6, "derisi_GO": 4, "spo_GO": 4}
"""Number of seeds, if more than one: of data sets on which seeds differ most in their best epoch, or take longest."""
FIRST = {"patience": 30, "patience_growth": 0, "epochs": 400}
"""Settings of the first training: longer than any rule, but for those that wait longer where the best epoch is late."""
LONGEST, LEAST = 1.4, 45
"""Epochs of the second training: relative to the best epoch of the first, and at least."""
Rule = Callable[[list[float]], tuple[int, int]]
"""Returns how many epochs are trained, and how many of them are chosen."""


def _go_on(scores: list[float], *, least: int = 0, more: int = 0) -> tuple[int, int]:
    """Stop as the default does, and choose a later epoch."""
    trained, chosen = _stop(scores, growth=0.2)
    return trained, max(chosen + more, least)


def _stop(
    scores: list[float], patience: int = 10, *, growth: float = 0.0, smooth: int = 1, within: float = 0.0
) -> tuple[int, int]:
    """Stop after epochs in which no score is within a share of the best one, and choose the last that is."""
    half = smooth // 2
    means = [float(np.mean(scores[max(0, at - half) : at + half + 1])) for at in range(len(scores))]
    chosen = 0
    for at, best in enumerate(accumulate(means, max)):
        if means[at] >= best * (1 - within):
            chosen = at
        elif at - chosen >= max(patience, growth * (chosen + 1)):
            return min(at + 1 + half, len(scores)), chosen + 1
    return len(scores), chosen + 1


RULES: dict[str, Rule] = {
    "default: 10 epochs, or a fifth of the best one": partial(_stop, growth=0.2),
    "the same, at most 200 in all": lambda scores: _stop(scores[:200], growth=0.2),
    "10 epochs, or a tenth of the best one": partial(_stop, growth=0.1),
    "10 epochs": _stop,
    "20 epochs": partial(_stop, patience=20),
    "30 epochs": partial(_stop, patience=30),
    "default, mean score of 5 epochs": partial(_stop, growth=0.2, smooth=5),
    "default, mean score of 9 epochs": partial(_stop, growth=0.2, smooth=9),
    "default, last epoch within 0.2 % of the best": partial(_stop, growth=0.2, within=0.002),
    "default, last epoch within 0.5 % of the best": partial(_stop, growth=0.2, within=0.005),
    "default, at least 20 epochs chosen": partial(_go_on, least=20),
    "default, at least 30 epochs chosen": partial(_go_on, least=30),
    "default, 3 epochs more": partial(_go_on, more=3),
    "default, 5 epochs more": partial(_go_on, more=5),
}


def report() -> str:
    """Return what other rules than the first gain on the rows that judge, and how many epochs they train."""
    runs = load_all(FOLDER)
    if not runs:
        return ""
    lines = [
        {"rule": name, "dataset": run["dataset"], "score": _score(run, chosen), "epochs": trained}
        for run in runs
        for name, rule in RULES.items()
        for trained, chosen in [rule(run["deciding"])]
    ]
    means = pd.DataFrame(lines).pivot_table(["score", "epochs"], "dataset", "rule")
    scores, epochs = means["score"], means["epochs"]
    first, *others = RULES
    cells = [[first, *(f"{score:.4f}" for score in (*scores[first], scores[first].mean())), "1.00"]]
    for rule in others:
        gains, times = scores[rule] - scores[first], (epochs[rule] / epochs[first]).mean()
        cells.append([rule, *(f"{gain:+.4f}" for gain in (*gains, gains.mean())), f"{times:.2f}"])
    seeds = Counter(run["dataset"] for run in runs)
    several = ", ".join(f"{name}: {number}" for name, number in seeds.items() if number > 1)
    note = (
        f"AU(PRC) on held-out rows, 1 seed ({several}), and for the others the difference to the default. "
        "Epochs are those of the first training, relative to the default. On diatoms all trainings were ended 30 "
        "epochs after their best one, where the default would have gone on for a fifth of it. Run by `python -m "
        "benchmarks.stopping`."
    )
    return f"{table(['stop after', *scores.index, 'mean', 'epochs'], cells)}\n{note}\n"


def _score(run: dict[str, Any], chosen: int) -> float:
    epochs: list[float] = run["judging"]
    return epochs[min(chosen, len(epochs)) - 1]


def main(names: list[str]) -> None:
    """Run what has no result file, on all data sets or on those that are named."""
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or DATASETS:
        for seed in range(SEEDS.get(name, 1)):
            compute = partial(refits.measure, name, seed, LONGEST, LEAST, **FIRST)
            run_once(FOLDER / f"{name}-{seed}.json", compute, "stopping")


if __name__ == "__main__":
    main(sys.argv[1:])

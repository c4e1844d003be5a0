"""How the default network starts and trains: ``python -m benchmarks.starts``. Existing result files are not repeated.

Each candidate is trained on the training rows of each data set, and stopped by its validation rows; test rows are not
used. `benchmarks.report` writes the table of docs/findings.md.
"""

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any
from unittest import mock

import pandas as pd
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn

from benchmarks.markdown import table
from benchmarks.measure import RESULTS, load_all, run_once
from benchmarks.shapes import data_folder
from chmcnn import CHMCNNClassifier, datasets
from chmcnn.nn import MLP
from chmcnn.training import Loss, Settings

FOLDER = RESULTS / "starts"
DATASETS = ("cellcycle_FUN", "seq_FUN", "eisen_FUN", "eisen_GO", "enron")
SEEDS = (0,)
CANDIDATES = ("default", "plain start, all classes", "mixup", "AdamW", "batches of 128 rows")


class Plain(CHMCNNClassifier):
    """The default network with random first outputs, and an output for each class."""

    def _is_by_frequency(self) -> bool:
        return False


class MixedMLP(MLP):
    """The default network, which in training mixes each row with another one of the batch."""

    share = 1.0
    order = torch.empty(0, dtype=torch.int64)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (rows, classes)."""
        if self.training:
            share = float(torch.distributions.Beta(0.4, 0.4).sample())
            self.share, self.order = max(share, 1 - share), torch.randperm(len(x))
            x = self.share * x + (1 - self.share) * x[self.order]
        for layer in self:
            x = layer(x)
        return x


class Mixup(CHMCNNClassifier):
    """The default with mixup: the loss has the labels of both rows, each with its share."""

    def _create_default_network(self, features: int, classes: int) -> nn.Module:
        self._mixed = MixedMLP(features, classes, **self.architecture())
        return self._mixed

    def _create_loss(self, labels: csr_array | None) -> Loss:
        loss = super()._create_loss(labels)

        def mix(logits: Tensor, y: Tensor) -> Tensor:
            share, order = self._mixed.share, self._mixed.order
            return share * loss(logits, y) + (1 - share) * loss(logits, y[order])

        return mix


def _use_adamw() -> AbstractContextManager[object]:
    def create(network: nn.Module, settings: Settings, _device: torch.device | str) -> torch.optim.Optimizer:
        return torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=0.01)

    return mock.patch("chmcnn.training._state.create_optimizer", create)


def measure(name: str, candidate: str, seed: int) -> dict[str, Any]:
    """Return the best AU(PRC) on validation rows, its epoch, and the processor time."""
    data = datasets.load(name, data_dir=data_folder())
    kind = {"plain start, all classes": Plain, "mixup": Mixup}.get(candidate, CHMCNNClassifier)
    options: dict[str, Any] = {"batch_size": 128} if candidate == "batches of 128 rows" else {}
    start = time.process_time()
    with _use_adamw() if candidate == "AdamW" else nullcontext():
        model = kind(data.hierarchy, evaluated=data.evaluated, random_state=seed, refit=False, **options)
        model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    return {
        "dataset": name,
        "candidate": candidate,
        "seed": seed,
        "validation AU(PRC)": model.best_score_,
        "epochs": len(model.history_),
        "processor seconds": time.process_time() - start,
    }


def report() -> str:
    """Return a table of the default on validation rows, and by how much other candidates differ on the same ones."""
    runs = pd.DataFrame(load_all(FOLDER))
    by_run = runs.pivot_table(index=["dataset", "seed"], columns="candidate", values=["validation AU(PRC)", "epochs"])
    scores, epochs = by_run["validation AU(PRC)"], by_run["epochs"]
    cells = []
    for candidate in (name for name in CANDIDATES if name in scores):
        default = candidate == CANDIDATES[0]
        shown = scores[candidate] if default else (scores[candidate] - scores[CANDIDATES[0]]).dropna()
        means, sign = shown.groupby("dataset").mean(), "" if default else "+"
        cells.append([candidate, *(f"{means[name]:{sign}.4f}" if name in means else "not run" for name in DATASETS)])
        cells[-1] += [f"{means.mean():{sign}.4f}", f"{epochs[candidate].loc[shown.index].mean():.0f}"]
    note = (
        f"AU(PRC) on validation rows, {runs['seed'].nunique()} seed, and for the others the difference to the default; "
        "the mean is over the data sets that were run. Epochs until the training stops. Run by `python -m "
        "benchmarks.starts`."
    )
    return f"{table(['candidate', *DATASETS, 'mean', 'epochs'], cells)}\n{note}\n"


def main(names: list[str]) -> None:
    """Run what has no result file, on all data sets or on those that are named."""
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS:
        for number, candidate in enumerate(CANDIDATES):
            for name in names or DATASETS:
                file = FOLDER / f"{name}-{number}-{seed}.json"
                run_once(file, partial(measure, name, candidate, seed), "starts")


if __name__ == "__main__":
    main(sys.argv[1:])

"""How the default network starts and trains: ``python -m benchmarks.starts``. Existing result files are not repeated.

Each candidate is trained on the training rows of each data set, and stopped by its validation rows; test rows are not
used. `benchmarks.report` writes the table of docs/findings.md.
"""

import math
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple
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
FIRST = ("cellcycle_FUN", "seq_FUN", "eisen_FUN", "eisen_GO", "enron")
DATASETS = (*FIRST, "derisi_FUN", "gasch1_FUN", "gasch2_FUN", "spo_FUN", "derisi_GO", "imclef07d")


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
        self._mixed = MixedMLP(features, classes, **self._list_network_options())
        return self._mixed

    def _create_loss(self, labels: csr_array | None) -> Loss:
        loss = super()._create_loss(labels)

        def mix(logits: Tensor, y: Tensor) -> Tensor:
            share, order = self._mixed.share, self._mixed.order
            return share * loss(logits, y) + (1 - share) * loss(logits, y[order])

        return mix


class Plain(CHMCNNClassifier):
    """The default network with random first outputs, and an output for each class."""

    def _is_by_frequency(self) -> bool:
        return False


class Unscaled(CHMCNNClassifier):
    """The default network, whose first layer has the features as they are."""

    def _wants_scaled_features(self) -> bool:
        return False


def _use_adamw() -> AbstractContextManager[object]:
    def create(network: nn.Module, settings: Settings, _device: torch.device | str) -> torch.optim.Optimizer:
        return torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=0.01)

    return mock.patch("chmcnn.training._state.create_optimizer", create)


class Candidate(NamedTuple):
    """A classifier, its options, what holds while it is trained, and on how much it is tried."""

    kind: type[CHMCNNClassifier] = CHMCNNClassifier
    options: Mapping[str, Any] = {}
    context: Callable[[], AbstractContextManager[object]] = nullcontext
    names: tuple[str, ...] = FIRST
    seeds: int = 1


def _features(kind: type[CHMCNNClassifier] = CHMCNNClassifier, **constants: float) -> Candidate:
    """Return a candidate with other features, on all data sets."""
    context = partial(mock.patch.multiple, "chmcnn.nn", **constants) if constants else nullcontext
    return Candidate(kind, context=context, names=DATASETS, seeds=2)


CANDIDATES = {
    "default": _features(),
    "plain start, all classes": Candidate(Plain),
    "mixup": Candidate(Mixup),
    "AdamW": Candidate(context=_use_adamw),
    "batches of 128 rows": Candidate(options={"batch_size": 128}),
    "features as they are": _features(Unscaled),
    "features without limits": _features(_LIMIT=math.inf),
    "features without factors": _features(_FACTOR_RATE=1e-9),  # which hardly learn anything
    "no feature omitted": _features(_FEATURE_DROPOUT=0.0),
    "twice as many features omitted": _features(_FEATURE_DROPOUT=0.3),
}


def measure(name: str, candidate: str, seed: int) -> dict[str, Any]:
    """Return the best AU(PRC) on validation rows, its epoch, and the processor time."""
    data = datasets.load(name, data_dir=data_folder())
    kind, options, context, *_ = CANDIDATES[candidate]
    start = time.process_time()
    with context():
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
    if runs.empty:
        return ""
    by_run = runs.pivot_table(
        index=["dataset", "seed"],
        columns="candidate",
        values=["validation AU(PRC)", "epochs", "processor seconds"],
    )
    scores, epochs, seconds = by_run["validation AU(PRC)"], by_run["epochs"], by_run["processor seconds"]
    cells, reference = [], next(iter(CANDIDATES))
    for candidate in (name for name in CANDIDATES if name in scores):
        default = candidate == reference
        shown = scores[candidate] if default else (scores[candidate] - scores[reference]).dropna()
        means, sign = shown.groupby("dataset").mean(), "" if default else "+"
        cells.append([candidate, *(f"{means[name]:{sign}.4f}" if name in means else "not run" for name in DATASETS)])
        costs = [cost.loc[shown.index].sum() for cost in (epochs, seconds)]
        cells[-1] += [f"{means.mean():{sign}.4f}", *(f"{cost[candidate] / cost[reference]:.2f}" for cost in costs)]
    note = (
        f"AU(PRC) on validation rows, and for the others the difference to the default; {runs['seed'].nunique()} seeds "
        "where all data sets were run, one for the other candidates. The mean is over the data sets that were run. "
        "Epochs until the training stops, and processor time, relative to the default on the same data sets. Run by "
        "`python -m benchmarks.starts`."
    )
    return f"{table(['candidate', *DATASETS, 'mean', 'epochs', 'time'], cells)}\n{note}\n"


def main(names: list[str]) -> None:
    """Run what has no result file, on all data sets or on those that are named."""
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed in range(2):
        for number, (name, candidate) in enumerate(CANDIDATES.items()):
            for dataset in names or candidate.names if seed < candidate.seeds else ():
                file = FOLDER / f"{dataset}-{number}-{seed}.json"
                run_once(file, partial(measure, dataset, name, seed), "starts")


if __name__ == "__main__":
    main(sys.argv[1:])

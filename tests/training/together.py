"""Trainings that several processes do together, or one alone, and what each process sees of them."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import torch
from scipy.sparse import csr_array
from torch import Tensor, distributed
from torch.utils.data import DataLoader, DistributedSampler, IterableDataset, TensorDataset

from chmcnn import CHMCNNClassifier, ChmcnnError, Hierarchy
from chmcnn.datasets import RowGroups
from chmcnn.datasets.synthetic import learnable
from chmcnn.nn import MLP, MaxConstraint, MCLoss, SparseMLP
from chmcnn.training import Ranks, Rows, Settings, TrainingState, join, train

DATA = learnable(rows=200, features=10, classes=20, depth=3, noise=0.3)
COUNT = 61  # an odd number of rows, whose last batch has fewer rows than there are processes
SETTINGS = Settings(epochs=4, batch_size=15, patience=2, averaging=1.0)
TREE = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat")])
KINDS = ("rows", "sparse", "dataset", "loader", "iterable")


class Iterated(IterableDataset[tuple[Tensor, Tensor]]):
    """Rows one after the other, with random numbers drawn on the way."""

    def __init__(self, x: Tensor, y: Tensor) -> None:
        self.x, self.y = x, y

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        left = list(range(len(self.x)))
        while left:
            row = left.pop(int(torch.randint(len(left), ())))
            yield self.x[row], self.y[row]


def numbered() -> tuple[Tensor, Tensor, csr_array]:
    """Features, whose first column has the number of the row, and labels, dense and sparse."""
    x = torch.tensor(DATA.train.X[:COUNT], dtype=torch.float32)
    x[:, 0] = torch.arange(COUNT) / COUNT
    labels = DATA.train.Y[:COUNT]
    return x, torch.from_numpy(labels.toarray()), labels


def make(kind: str) -> Any:
    x, y, labels = numbered()
    if kind == "sparse":
        return Rows(csr_array(x.numpy() * (np.abs(x.numpy()) > 0.5)), labels)
    data: dict[str, Callable[[], Any]] = {
        "rows": lambda: Rows(x, labels),
        "dataset": lambda: TensorDataset(x, y),
        "loader": lambda: DataLoader(TensorDataset(x, y), SETTINGS.batch_size, shuffle=True),
        "iterable": lambda: Iterated(x, y),
    }
    return data[kind]()


def run(
    kind: str, dropout: float = 0.0, data: Any = None, settings: Settings = SETTINGS, checkpoint: Path | None = None
) -> dict[str, Any]:
    """Train, and return the result and the rows of each epoch."""
    valid = Rows(torch.tensor(DATA.valid.X[:23], dtype=torch.float32), DATA.valid.Y[:23])
    data, network = make(kind) if data is None else data, SparseMLP if kind == "sparse" else MLP
    if kind == "sparse":
        valid = Rows(csr_array(DATA.valid.X[:23].astype(np.float32)), valid.y)
    refit = isinstance(data, Rows)
    seen: list[list[float]] = []
    with recorded(seen):
        trained = train(
            partial(network, 10, 20, widths=(16,), dropout=dropout),
            data,
            loss=MCLoss(DATA.hierarchy),
            settings=replace(settings, refit=refit),
            valid=valid,
            scores=MaxConstraint(DATA.hierarchy),
            checkpoint=checkpoint,
            ranks=join(),
        )
    return {
        "epochs": [(each.phase, each.number, each.best) for each in trained.history],
        "losses": [each.loss for each in trained.history],
        "scores": [each.score for each in trained.history if each.phase == "train"],
        "weights": trained.network.state_dict(),
        "best": (trained.best_epoch, trained.best_weights),
        "seen": seen,
    }


@contextmanager
def recorded(seen: list[list[float]]) -> Iterator[None]:
    """Record the first feature of the rows that count, for each epoch."""
    original = Ranks.in_step

    def in_step(ranks: Ranks, batches: Iterable[tuple[Tensor, Tensor]]) -> Iterator[tuple[Any, Any, int, float]]:
        epoch: list[float] = []
        seen.append(epoch)
        for x, y, rows, weight in original(ranks, batches):
            epoch.extend(x.to_dense()[:rows, 0].tolist())
            yield x, y, rows, weight

    with mock.patch.object(Ranks, "in_step", in_step):
        yield


def run_stopped(folder: Path, stop_at: int) -> dict[str, Any]:
    """Train with a network that is divided among the processes, stop at an epoch of the whole, and resume."""
    begin, number = TrainingState.begin_epoch, itertools.count(1)

    def begin_epoch(state: TrainingState, settings: Settings) -> None:
        if next(number) == stop_at:
            raise KeyboardInterrupt
        begin(state, settings)

    settings = replace(SETTINGS, sharded=True)
    with mock.patch.object(TrainingState, "begin_epoch", begin_epoch), suppress(KeyboardInterrupt):
        run("rows", settings=settings, checkpoint=folder)
    return run("rows", settings=settings, checkpoint=folder)


def fit_row_groups(folder: Path) -> list[list[float]]:
    """Train on the files of `write_files`, and return the rows of each epoch."""
    seen: list[list[float]] = []
    rows = RowGroups([folder], TREE, window=16)
    with recorded(seen):
        CHMCNNClassifier(TREE, epochs=2, widths=[4], preprocess=False, random_state=0, batch_size=8).fit(rows)
    return seen


def write_files(folder: Path) -> None:
    random = np.random.default_rng(0)
    for part, rows in enumerate((23, 5, 1, 30)):
        kinds = random.choice(["dog", "cat"], rows)
        frame = pd.DataFrame({"number": 100.0 * part + np.arange(rows), "labels": kinds})
        frame.to_parquet(folder / f"part{part}.parquet", row_group_size=7)


def fit_by_chance(folder: Path) -> dict[str, Any]:
    """Train without a seed, with dropout, and save; return what the model is, and what it has learnt."""
    model = CHMCNNClassifier(DATA.hierarchy, epochs=3, widths=[8], calibration="isotonic")
    model.fit(DATA.train.X[:COUNT], DATA.train.Y[:COUNT])
    model.save(folder / "model")
    assert model.risks_ is not None
    assert model.calibration_ is not None
    return {
        "seed": model.seed_,
        "history": model.history_,
        "scores": model.predict_proba(DATA.test.X),
        "thresholds": model.tuned_thresholds_,
        "risks": model.risks_.risks,
        "calibration": model.calibration_.probabilities,
    }


def say(call: Callable[[], object]) -> str:
    """Return the message of the error of a call."""
    try:
        call()
    except ChmcnnError as error:
        return str(error)
    return "no error"


def list_errors(folder: Path) -> dict[str, str]:
    x, y, labels = numbered()
    ranks = join()
    few = Rows(x[: ranks.size - 1], labels[: ranks.size - 1])
    distinct, own = slice(ranks.rank, None), slice(ranks.rank, None, ranks.size)
    pairs = TensorDataset(x, y)
    sampled = DataLoader(pairs, 15, sampler=DistributedSampler(pairs))

    def fail() -> int:
        raise ChmcnnError(f"Process {join().rank + 1} fails.")

    return {
        "other rows": say(lambda: run("rows", data=Rows(x[distinct], labels[distinct]))),
        "few rows": say(lambda: run("rows", data=few)),
        "small batches": say(lambda: run("rows", settings=Settings(epochs=1, batch_size=1))),
        "divided twice": say(lambda: run("loader", data=sampled)),
        "divided before": say(lambda: run("iterable", data=Iterated(x[own], y[own]))),
        "sparse gradients": say(lambda: run("sparse", settings=replace(SETTINGS, sharded=True))),
        "few groups": say(lambda: fit_row_groups(folder / "one")),
        "first fails": say(lambda: ranks.from_first(fail)),
    }


def run_all(rank: int, size: int, folder: Path) -> None:
    """Do everything as one of several processes, and write what this one sees."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/store{size}", rank=rank, world_size=size)
    result: dict[str, Any] = {kind: run(kind) for kind in (KINDS if size == 2 else ("rows", "dataset"))}
    result["row groups"] = fit_row_groups(folder / "files")
    if size == 2:
        result["sharded"] = run("rows", settings=replace(SETTINGS, sharded=True))
        result["stopped"] = run_stopped(folder / "stopped", stop_at=3)
        result["stopped in the refit"] = run_stopped(folder / "stopped in the refit", stop_at=6)
        result["dropout"] = [run("rows", dropout=0.5) for _ in range(2)]
        result["by chance"] = fit_by_chance(folder)
        result["errors"] = list_errors(folder)
    torch.save(result, folder / f"{size}-{rank}.pt")
    distributed.destroy_process_group()

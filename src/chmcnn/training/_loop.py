"""One training loop: batches, validation after every epoch, early stopping, refit, checkpoints, progress."""

from __future__ import annotations

import math
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import torch
from scipy.sparse import csr_array, vstack
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset

from chmcnn.errors import ChmcnnError
from chmcnn.metrics import auprc
from chmcnn.training._checkpoint import Checkpoint
from chmcnn.training._state import (
    Epoch,
    Run,
    average,
    averaged_weights,
    described,
    fingerprint,
    next_phase,
    restored,
    save,
    seed_of_epoch,
    start,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from torch import nn

__all__ = ["Batches", "Epoch", "Loss", "Rows", "Run", "Settings", "Trained", "one_more", "predict", "start", "train"]

Batches = Any  # Rows in memory, a torch Dataset, or a DataLoader
_ROWS_AT_ONCE = 4096
"""Rows of a forward pass that needs no gradient."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to train.

    Attributes
    ----------
    epochs
        At most so many.
    batch_size, learning_rate, weight_decay
        Of Adam.
    patience
        Stop after so many epochs without a validation score at least as good as the best; None trains all epochs.
    refit
        Whether to train a new network on training and validation data for the best number of epochs, as the paper does.
        Otherwise the weights of the best epoch are kept.
    schedule
        How the learning rate goes on: it stays, or falls to 0 along a cosine over ``epochs``.
    averaging
        Validate and keep a moving average of the weights over about so many epochs, in place of the last ones; 0 keeps
        the last ones, as the paper does. Data without a length is not averaged over.
    precision
        ``"bfloat16"`` computes the network in half precision where torch's autocast allows it.
    seed
        Decides the order of the rows, and everything that the network draws at random.
    """

    epochs: int = 200
    batch_size: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    patience: int | None = 20
    refit: bool = True
    schedule: Literal["constant", "cosine"] = "constant"
    averaging: float = 0.0
    precision: Literal["float32", "bfloat16"] = "float32"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        least = {"epochs": 1, "batch_size": 1, "patience": 0, "weight_decay": 0, "averaging": 0, "seed": 0}
        for name, value in least.items():
            given = getattr(self, name)
            if given is not None and not (isinstance(given, int | float) and given >= value):
                raise ChmcnnError(f"{name} is {given!r}; expected {value} or more.")
        if not isinstance(self.learning_rate, int | float) or not 0 < self.learning_rate < math.inf:
            raise ChmcnnError(f"learning_rate is {self.learning_rate!r}; expected a positive number.")
        for name, known in {"schedule": ("constant", "cosine"), "precision": ("float32", "bfloat16")}.items():
            if getattr(self, name) not in known:
                raise ChmcnnError(f"{name} is {getattr(self, name)!r}; expected one of {', '.join(known)}.")


@dataclass(frozen=True, slots=True)
class Trained:
    """The network, and how it came about."""

    network: nn.Module
    history: tuple[Epoch, ...]
    best_epoch: int
    best_score: float  # NaN where nothing was validated
    best_weights: dict[str, Tensor]  # of the best epoch, before any refit; empty where nothing was validated


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Features and labels in memory, on the device of the training: batches are cut out of them."""

    x: Tensor | csr_array  # (rows, features); a sparse matrix becomes dense one batch at a time
    y: Tensor  # (rows, classes), boolean

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Shuffled batches of one epoch."""
        for rows in torch.randperm(len(self.y), device=self.y.device).split(size):
            yield dense(self.x, rows, self.y.device), self.y[rows]

    def to(self, device: torch.device | str) -> Rows:
        """The same rows on another device."""
        return Rows(self.x.to(device) if isinstance(self.x, Tensor) else self.x, self.y.to(device))

    def joined(self, other: Rows) -> Rows:
        """These rows, and then the others."""
        both: Any = self.x, other.x
        x = torch.cat(both) if isinstance(self.x, Tensor) else vstack(both, format="csr")
        return Rows(x, torch.cat([self.y, other.y]))


def dense(x: Tensor | csr_array, rows: Tensor, device: torch.device | str) -> Tensor:
    """Some rows of features, as a tensor."""
    if isinstance(x, Tensor):
        return x[rows]
    return torch.from_numpy(x[rows.cpu().numpy()].toarray()).to(device, torch.float32)


class Loss(Protocol):
    """What compares logits with labels."""

    def __call__(self, logits: Tensor, y: Tensor) -> Tensor:
        """A scalar."""


def train(  # noqa: PLR0913 -- what a training needs, by name
    build: Callable[[], nn.Module],
    data: Batches,
    *,
    loss: Loss,
    settings: Settings,
    valid: Rows | None = None,
    scores: Callable[[Tensor], Tensor] = torch.sigmoid,
    evaluated: NDArray[np.bool_] | None = None,
    device: torch.device | str = "cpu",
    checkpoint: Path | None = None,
    progress: Callable[[Epoch], object] | None = None,
    system: str = "",
) -> Trained:
    """Train a network; see `Settings` for how.

    The same seed gives the same weights, bit for bit, on one machine and number of threads; a training that was killed
    and goes on from its checkpoint gives them too.

    Parameters
    ----------
    build
        Makes a new network; called once for the training and once for the refit.
    data
        The training rows: `Rows`, any torch ``Dataset`` of pairs (x, y), or a ``DataLoader``.
    loss
        Compares logits with labels.
    settings
        How to train.
    valid
        Rows to choose the number of epochs with; without them all epochs are trained.
    scores
        Turns logits into the scores that are validated, such as a `chmcnn.nn.MaxConstraint`.
    evaluated
        Which classes count in the validation.
    device
        Where to train.
    checkpoint
        A folder to write the state of the training to after every epoch, and to go on from.
    progress
        Called after every epoch.
    system
        What is trained: the checkpoint of something else is refused.
    """
    if valid is None:
        settings = replace(settings, refit=False)
    if settings.refit and not isinstance(data, Rows):
        raise ChmcnnError("refit needs the training rows in memory; use refit=False with a Dataset or a DataLoader.")
    if valid is not None and not _counted(valid.y, evaluated).any():
        raise ChmcnnError("No validation row has any of the classes that count: there is nothing to stop by.")
    decay = _decay(data, settings)
    with torch.random.fork_rng(devices=_devices(device)):
        run = start(build, settings, device)
        saved = None
        if checkpoint:
            made_with = fingerprint(settings, data, valid, loss, evaluated)
            saved = Checkpoint(checkpoint, made_with | {"system": system, "network": described(run.network)})
            run = restored(saved, build, settings, device) or run
        if run.phase == "train":
            validate = _Validation(valid, scores, evaluated)
            _go(run, data, loss, settings, validate, saved, progress, device, settings.epochs, decay)
        best = run.best_epoch if valid is not None else settings.epochs
        if settings.refit and valid is not None:
            if run.phase == "train":
                run = next_phase(run, build, settings, device)
            nothing = _Validation(None, scores, evaluated)
            _go(run, data.joined(valid), loss, settings, nothing, saved, progress, device, best, decay)
        run.network.load_state_dict(run.averaged, strict=False)
        if run.best_weights and not settings.refit:
            run.network.load_state_dict(run.best_weights)
    run.network.eval()
    score = run.best_score if valid is not None else math.nan
    return Trained(run.network, tuple(run.history), best, score, run.best_weights)


def predict(network: Callable[[Tensor], Tensor], x: Tensor | csr_array, device: torch.device | str) -> Tensor:
    """Outputs of a network for rows in memory, some at a time."""
    with torch.inference_mode():
        some = torch.arange(x.shape[0]).split(_ROWS_AT_ONCE)
        return torch.cat([network(dense(x, rows, device)) for rows in some])


@dataclass(frozen=True, slots=True)
class _Validation:
    rows: Rows | None
    scores: Callable[[Tensor], Tensor]
    evaluated: NDArray[np.bool_] | None

    def __call__(self, network: nn.Module) -> float:
        if self.rows is None:
            return math.nan
        network.eval()
        scores = predict(lambda x: self.scores(network(x)).float(), self.rows.x, self.rows.y.device)
        return auprc(self.rows.y, scores, classes=self.evaluated)


def _go(  # noqa: PLR0913, PLR0917 -- what one phase needs
    run: Run,
    data: Batches,
    loss: Loss,
    settings: Settings,
    validate: _Validation,
    saved: Checkpoint | None,
    progress: Callable[[Epoch], object] | None,
    device: torch.device | str,
    epochs: int,
    decay: float,
) -> None:
    """Train epoch after epoch, to the end of the phase."""
    while run.epoch < epochs and not _patience_is_over(run, settings, validate):
        start = time.perf_counter()
        run.epoch += 1
        torch.manual_seed(
            seed_of_epoch(settings.seed, run.phase, run.epoch)
        )  # an epoch does not depend on what came before
        for group in run.optimizer.param_groups:
            group["lr"] = settings.learning_rate * _factor(settings, run.epoch)
        mean_loss = _one_epoch(run, data, loss, settings, device, decay)
        with averaged_weights(run):
            score = validate(run.network)
            if validate.rows is not None and score >= run.best_score:
                run.best_epoch, run.best_score = run.epoch, score
                run.best_weights = {name: value.clone() for name, value in run.network.state_dict().items()}
        seconds = time.perf_counter() - start
        done = Epoch(run.phase, run.epoch, epochs, mean_loss, score, run.best_epoch, seconds)
        run.history.append(done)
        if saved:
            save(saved, run)
        if progress:
            progress(done)


def _one_epoch(  # noqa: PLR0913, PLR0917 -- what an epoch needs
    run: Run, data: Batches, loss: Loss, settings: Settings, device: torch.device | str, decay: float = 0.0
) -> float:
    run.network.train()
    total, count = torch.zeros((), device=device), 0
    half = settings.precision == "bfloat16"
    for x, y in _batches(data, settings, device):
        run.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(torch.device(device).type, torch.bfloat16) if half else nullcontext():
            logits = run.network(x)
        step_loss = loss(logits.float() if half else logits, y)
        step_loss.backward()
        run.optimizer.step()
        if decay:
            average(run, decay)
        total += step_loss.detach() * len(x)
        count += len(x)
    if not count:
        raise ChmcnnError("The training data gave no batch; expected at least one row.")
    mean = float(total) / count
    if not math.isfinite(mean):
        raise ChmcnnError(
            f"The loss of epoch {run.epoch} is {mean}; try a smaller learning_rate, or look for huge values in X."
        )
    return mean


def _batches(data: Batches, settings: Settings, device: torch.device | str) -> Iterable[tuple[Tensor, Tensor]]:
    if isinstance(data, Rows):
        return data.batches(settings.batch_size)
    shuffle = not isinstance(data, IterableDataset)
    loader = DataLoader(data, settings.batch_size, shuffle=shuffle) if isinstance(data, Dataset) else data
    return ((x.to(device), y.to(device)) for x, y in loader)


def _decay(data: Batches, settings: Settings) -> float:
    """How much of the average a step keeps: all but the part that its epochs have of it."""
    try:
        length = len(data.y if isinstance(data, Rows) else data)
    except TypeError:
        return 0.0
    steps = math.ceil(length / settings.batch_size) if isinstance(data, Rows | Dataset) else length
    return max(0.0, 1 - 1 / max(steps * settings.averaging, 1))


def one_more(run: Run, data: Batches, loss: Loss, settings: Settings, device: torch.device | str) -> Epoch:
    """Train one epoch more, and nothing else: no validation, no checkpoint."""
    start_time = time.perf_counter()
    run.epoch += 1
    with torch.random.fork_rng(devices=_devices(device)):
        torch.manual_seed(seed_of_epoch(settings.seed, run.phase, run.epoch))
        mean = _one_epoch(run, data, loss, settings, device)
    return Epoch(run.phase, run.epoch, run.epoch, mean, math.nan, 0, time.perf_counter() - start_time)


def _patience_is_over(run: Run, settings: Settings, validate: _Validation) -> bool:
    if validate.rows is None or settings.patience is None or not run.best_epoch:
        return False
    return run.epoch - run.best_epoch >= settings.patience


def _factor(settings: Settings, epoch: int) -> float:
    if settings.schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * (epoch - 1) / settings.epochs))
    return 1.0


def _counted(y: Tensor, evaluated: NDArray[np.bool_] | None) -> Tensor:
    return y if evaluated is None else y[:, torch.tensor(evaluated, device=y.device)]


def _devices(device: torch.device | str) -> list[int]:
    chosen = torch.device(device)
    return [chosen.index or 0] if chosen.type == "cuda" else []

"""The training loop."""

from __future__ import annotations

import math
import time
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from torch import Tensor

from chmcnn._wording import count
from chmcnn.errors import ChmcnnError
from chmcnn.training._budget import Budget, estimate_seconds
from chmcnn.training._checkpoint import Checkpoint
from chmcnn.training._display import TrainingDisplay
from chmcnn.training._fingerprint import fingerprint
from chmcnn.training._ranks import ALONE, explain_silence
from chmcnn.training._rows import Batches, Rows, accepts_sparse, batches, count_steps
from chmcnn.training._seeding import fork_seed
from chmcnn.training._sharding import gather
from chmcnn.training._state import Epoch, start
from chmcnn.training._validation import Validation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import nn

    from chmcnn.training._ranks import Ranks
    from chmcnn.training._settings import Settings
    from chmcnn.training._state import Phase, TrainingState


class Loss(Protocol):
    """A function that compares logits with labels."""

    def __call__(self, logits: Tensor, y: Tensor) -> Tensor:
        """Return a scalar."""


@dataclass(frozen=True, slots=True)
class Trained:
    """The trained network, and how the training went."""

    network: nn.Module
    history: tuple[Epoch, ...]
    best_epoch: int
    best_score: float  # NaN where nothing was validated
    best_weights: dict[str, Tensor]  # of the best epoch, before any refit; empty where nothing was validated
    notice: str = ""  # what the time did not suffice for


@dataclass(slots=True)
class Training:
    """One phase of a training: its state, its data, and how it is trained."""

    state: TrainingState
    data: Batches
    loss: Loss
    settings: Settings
    device: torch.device | str = "cpu"
    validation: Validation = field(default_factory=Validation)
    checkpoint: Checkpoint | None = None
    progress: Callable[[Epoch], object] | None = None
    budget: Budget = field(default_factory=Budget)
    ranks: Ranks = ALONE

    def run(self, epochs: int) -> None:
        """Train up to a number of epochs, or until the patience or the time is over."""
        while not self.is_finished(epochs) and not (self.state.history and self.budget.is_over()):
            epoch = self.run_epoch(epochs)
            self.state.history.append(epoch)
            self.state.seconds = self.budget.seconds_used()
            if self.checkpoint:
                self.checkpoint.save(self.state, self.ranks)
            if self.progress and self.ranks.is_first:
                self.progress(epoch)

    def resume(self, start_phase: Callable[[Phase], TrainingState]) -> None:
        """Take the state from the checkpoint, if there is one, and say so."""
        restored = self.checkpoint.restore(start_phase, self.ranks) if self.checkpoint else None
        if restored is None or self.checkpoint is None:
            return
        self.state = restored
        if self.ranks.is_first and isinstance(self.progress, TrainingDisplay):
            self.progress.tell_resumed(restored.phase, restored.epoch, self.checkpoint.folder)

    def is_finished(self, epochs: int) -> bool:
        """Return whether the training has had its epochs, or is over the patience."""
        return self.state.epoch >= epochs or self._patience_is_over()

    def run_epoch(self, of: int) -> Epoch:
        """Train and validate the next epoch."""
        begin, state = time.perf_counter(), self.state
        state.begin_epoch(self.settings)
        loss = self._train()
        with state.average.applied(state.network):
            score = self.validation.score(state.network)
            state.record_best(score)
        seconds = self.ranks.from_first(lambda: time.perf_counter() - begin)
        return Epoch(state.phase, state.epoch, of, loss, score, state.best_epoch, seconds, self.validation.sampled)

    def run_one(self) -> Epoch:
        """Train one epoch more, and leave torch's own seed as it is."""
        with fork_seed(self.device):
            return self.run_epoch(self.state.epoch + 1)

    def refit(self, start_phase: Callable[[Phase], TrainingState]) -> Training:
        """Return the second phase: a new network on training and validation rows, without validation."""
        first, state = self.state, self.state
        if first.phase == "train":
            state = start_phase("refit")
            state.best_epoch, state.best_score = first.best_epoch, first.best_score
            state.best_weights, state.history, state.seconds = first.best_weights, first.history, first.seconds
        data = self.data.concatenate(self.validation.rows)
        return replace(self, state=state, data=data, validation=replace(self.validation, rows=None, sample=None))

    def estimate_refit(self) -> tuple[int, float]:
        """Return the epochs that a refit has to train yet, and estimate their seconds."""
        state = self.state
        epochs = state.best_epoch - (state.epoch if state.phase == "refit" else 0)
        growth = 1 + len(self.validation.rows or ()) / len(self.data)
        return epochs, estimate_seconds(state.history, epochs, growth)

    def result(self, notice: str = "") -> Trained:
        """Return the network with the weights to use: of the refit or the best epoch, else the averaged or last ones.

        A notice means that the time did not suffice: then a refit, if any, is not complete.
        """
        state = self.state
        state.average.apply(state.network)
        if state.best_weights and (notice or not self.settings.refit):
            state.network.load_state_dict(state.best_weights)
        best_epoch, score = (state.best_epoch, state.best_score) if state.best_epoch else (state.epoch, math.nan)
        return Trained(state.network.eval(), tuple(state.history), best_epoch, score, state.best_weights, notice)

    def _train(self) -> float:
        """Train on all batches, and return the mean loss of a row."""
        self.state.network.train()
        total, trained = torch.zeros((), device=self.device), 0
        for x, y, rows, weight in self.ranks.in_step(self._batches()):
            total += self._step(x, y, weight) * rows
            trained += rows
            if self.state.phase == "train" and self.budget.is_over():
                break  # and validate the epoch so far; an epoch of a refit is of use only as a whole
        sum_of_all, rows_of_all = self.ranks.add(np.array([float(total), trained])).tolist()
        if not rows_of_all:
            raise ChmcnnError("The training data has no batch; expected at least one row.")
        mean = float(sum_of_all / rows_of_all)
        if not math.isfinite(mean):
            raise ChmcnnError(
                f"The loss of epoch {self.state.epoch} is {mean}; "
                "try a smaller learning_rate, or look for very large values in X."
            )
        return mean

    def _batches(self) -> Iterable[tuple[Tensor, Tensor]]:
        keep_sparse = accepts_sparse(self.state.network)
        return batches(self.data, self.settings.batch_size, self.device, keep_sparse=keep_sparse, ranks=self.ranks)

    def _step(self, x: Tensor, y: Tensor, weight: float) -> Tensor:
        state = self.state
        state.optimizer.zero_grad(set_to_none=True)
        with self._autocast():
            logits = state.replica(x)
        loss = self.loss(logits if self.settings.precision == "float32" else logits.float(), y)
        (loss if weight == 1 else loss * weight).backward()
        state.optimizer.step()
        state.average.update(state.network)
        return loss.detach()

    def _autocast(self) -> AbstractContextManager[object]:
        if self.settings.precision == "float32":
            return nullcontext()
        return torch.autocast(torch.device(self.device).type, torch.bfloat16)

    def _patience_is_over(self) -> bool:
        best_epoch = self.state.best_epoch
        if self.validation.rows is None or not best_epoch:
            return False
        return self.state.epoch - best_epoch >= self.settings.patience_after(best_epoch)


def train(  # noqa: PLR0913 -- the parts of a training, by name
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
    ranks: Ranks = ALONE,
) -> Trained:
    """Train a network; see `Settings` for how.

    The same seed gives identical weights on one machine with the same number of threads, also when the training was
    interrupted and resumes from its checkpoint. With ``max_minutes`` they also depend on the speed of the machine.

    Parameters
    ----------
    build
        Makes a new network; called once for the training and once for the refit.
    data
        Training rows: `Rows`, any torch ``Dataset`` of pairs (x, y), or a ``DataLoader``.
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
        Folder for the state of the training after every epoch; an interrupted training resumes from it.
    progress
        Called after every epoch.
    system
        Name of what is trained: a checkpoint of another system is refused.
    ranks
        The processes that train together, from `join`. Each trains on its share of each batch, and all get the result.
    """
    if valid is None:
        settings = replace(settings, refit=False)
    if settings.refit and not isinstance(data, Rows):
        raise ChmcnnError("refit needs the training rows in memory; use refit=False with a Dataset or a DataLoader.")
    _check_shares(data, settings, ranks)
    validation = Validation(valid, scores, evaluated, device, ranks=ranks)
    validation = validation.draw(settings.validation_sample, settings.seed)
    validation.check()
    start_phase = partial(start, build, settings, device, decay=_decay(data, settings), ranks=ranks)
    with fork_seed(device), explain_silence():
        state = start_phase("train")
        training = Training(state, data, loss, settings, device, validation, progress=progress, ranks=ranks)
        if checkpoint or ranks.size > 1:
            facts = fingerprint(training, system)
            ranks.require_same({name: fact for name, fact in facts.items() if name != "network"})
        if checkpoint:
            training.checkpoint = Checkpoint(checkpoint, facts)
            training.resume(start_phase)
        training.budget = Budget(settings.max_minutes, training.state.seconds, ranks)
        return gather(_run(training, start_phase), build, device)


def _run(training: Training, start_phase: Callable[[Phase], TrainingState]) -> Trained:
    """Train, and refit if that is asked for and there is time."""
    if training.state.phase == "train":
        training.run(training.settings.epochs)
        if not training.is_finished(training.settings.epochs):
            state = training.state
            return training.result(training.budget.describe_end(state.epoch, state.best_epoch))
    return _refit(training, start_phase) if training.settings.refit else training.result()


def _refit(training: Training, start_phase: Callable[[Phase], TrainingState]) -> Trained:
    """Train on training and validation rows, if the time suffices; otherwise keep the best weights."""
    epochs, seconds = training.estimate_refit()
    best_epoch, budget = training.state.best_epoch, training.budget
    if epochs and seconds > budget.seconds_left():
        return training.result(budget.describe_refit(epochs, seconds, best_epoch))
    training = training.refit(start_phase)
    training.run(best_epoch)
    finished = training.is_finished(best_epoch)
    return training.result("" if finished else budget.describe_refit(epochs, seconds, best_epoch))


def _check_shares(data: Batches, settings: Settings, ranks: Ranks) -> None:
    """Refuse processes without rows."""
    sizes = {"batch": settings.batch_size} | ({"training data": len(data)} if isinstance(data, Rows) else {})
    for what, rows in sizes.items():
        if rows < ranks.size:
            have = f"the {what} has {count(rows, 'row')}"
            raise ChmcnnError(f"There are {ranks.size} processes, but {have}: start fewer processes.")


def _decay(data: Batches, settings: Settings) -> float:
    """Return the share of the average of the weights that a step keeps; 0 for data without a length."""
    steps = count_steps(data, settings.batch_size)
    return 0.0 if steps is None else max(0.0, 1 - 1 / max(steps * settings.averaging, 1))

"""One training loop: batches, validation after every epoch, early stopping, refit, checkpoints, progress."""

from __future__ import annotations

import hashlib
import math
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import torch
from scipy.sparse import csr_array, vstack
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from chmcnn._checkpoint import Checkpoint
from chmcnn.errors import ChmcnnError
from chmcnn.metrics import auprc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from torch import nn

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
    precision: Literal["float32", "bfloat16"] = "float32"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        least = {"epochs": 1, "batch_size": 1, "patience": 0, "weight_decay": 0, "seed": 0}
        for name, value in least.items():
            given = getattr(self, name)
            if given is not None and not given >= value:
                raise ChmcnnError(f"{name} is {given!r}; expected {value} or more.")
        if not 0 < self.learning_rate < math.inf:
            raise ChmcnnError(f"learning_rate is {self.learning_rate!r}; expected a positive number.")
        for name, known in {"schedule": ("constant", "cosine"), "precision": ("float32", "bfloat16")}.items():
            if getattr(self, name) not in known:
                raise ChmcnnError(f"{name} is {getattr(self, name)!r}; expected one of {', '.join(known)}.")


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one epoch gave; the score is NaN where nothing was validated."""

    phase: Literal["train", "refit"]
    number: int  # from 1
    of: int
    loss: float
    score: float
    best: int  # the best epoch so far, 0 where nothing was validated
    seconds: float


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


@dataclass(slots=True)
class Run:
    """A training that is going on: what a checkpoint holds."""

    network: nn.Module
    optimizer: torch.optim.Optimizer
    phase: Literal["train", "refit"] = "train"
    epoch: int = 0
    best_epoch: int = 0
    best_score: float = -math.inf
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    history: list[Epoch] = field(default_factory=list)


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
    """
    if valid is None:
        settings = replace(settings, refit=False)
    if settings.refit and not isinstance(data, Rows):
        raise ChmcnnError("refit needs the training rows in memory; use refit=False with a Dataset or a DataLoader.")
    if valid is not None and not _counted(valid.y, evaluated).any():
        raise ChmcnnError("No validation row has any of the classes that count: there is nothing to stop by.")
    saved = (
        Checkpoint(checkpoint, _fingerprint(settings, data, valid, (loss, scores), evaluated)) if checkpoint else None
    )
    with torch.random.fork_rng(devices=_devices(device)):
        run = start(build, settings, device)
        if saved:
            run = _restored(saved, build, settings, device) or run
        if run.phase == "train":
            _go(run, data, loss, settings, _Validation(valid, scores, evaluated), saved, progress, device)
        best = run.best_epoch if valid is not None else settings.epochs
        if settings.refit and valid is not None:
            if run.phase == "train":
                run = _next_phase(run, build, settings, device)
            whole = data.joined(valid)
            limited = replace(settings, epochs=best)
            _go(run, whole, loss, limited, _Validation(None, scores, evaluated), saved, progress, device)
        elif run.best_weights:
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
) -> None:
    """Train epoch after epoch, to the end of the phase."""
    while run.epoch < settings.epochs and not _patience_is_over(run, settings, validate):
        start = time.perf_counter()
        run.epoch += 1
        torch.manual_seed(_seed(settings.seed, run.phase, run.epoch))  # an epoch does not depend on what came before
        for group in run.optimizer.param_groups:
            group["lr"] = settings.learning_rate * _factor(settings, run.epoch)
        mean_loss = _one_epoch(run, data, loss, settings, device)
        score = validate(run.network)
        if validate.rows is not None and score >= run.best_score:
            run.best_epoch, run.best_score = run.epoch, score
            run.best_weights = {name: value.clone() for name, value in run.network.state_dict().items()}
        seconds = time.perf_counter() - start
        done = Epoch(run.phase, run.epoch, settings.epochs, mean_loss, score, run.best_epoch, seconds)
        run.history.append(done)
        if saved:
            _save(saved, run)
        if progress:
            progress(done)


def _one_epoch(run: Run, data: Batches, loss: Loss, settings: Settings, device: torch.device | str) -> float:
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
    loader = DataLoader(data, settings.batch_size, shuffle=True) if isinstance(data, Dataset) else data
    return ((x.to(device), y.to(device)) for x, y in loader)


def one_more(run: Run, data: Batches, loss: Loss, settings: Settings, device: torch.device | str) -> Epoch:
    """Train one epoch more, and nothing else: no validation, no checkpoint."""
    start_time = time.perf_counter()
    run.epoch += 1
    with torch.random.fork_rng(devices=_devices(device)):
        torch.manual_seed(_seed(settings.seed, run.phase, run.epoch))
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


def _seed(seed: int, phase: str, epoch: int) -> int:
    return (seed * 2 + (phase == "refit")) * 1_000_003 + epoch


def start(
    build: Callable[[], nn.Module],
    settings: Settings,
    device: torch.device | str,
    phase: Literal["train", "refit"] = "train",
) -> Run:
    """Build a network and its optimizer."""
    torch.manual_seed(_seed(settings.seed, phase, 0))
    network = build().to(device)
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    if not parameters:
        raise ChmcnnError("The network has no parameter to train.")
    kind = torch.device(device).type
    optimizer = torch.optim.Adam(
        parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=kind in {"cpu", "cuda"}
    )
    return Run(network, optimizer, phase)


def _next_phase(run: Run, build: Callable[[], nn.Module], settings: Settings, device: torch.device | str) -> Run:
    after = start(build, settings, device, "refit")
    after.best_epoch, after.best_score, after.history = run.best_epoch, run.best_score, run.history
    after.best_weights = run.best_weights
    return after


def _save(saved: Checkpoint, run: Run) -> None:
    tensors = {f"network.{name}": value for name, value in run.network.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in run.best_weights.items()}
    for at, state in run.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{at}.{name}": value for name, value in state.items()}
    facts = {name: getattr(run, name) for name in ("phase", "epoch", "best_epoch", "best_score")}
    saved.write(tensors, facts | {"history": [asdict(epoch) for epoch in run.history]})


def _restored(
    saved: Checkpoint, build: Callable[[], nn.Module], settings: Settings, device: torch.device | str
) -> Run | None:
    found = saved.read()
    if found is None:
        return None
    tensors, facts = found
    try:
        return _run_from(tensors, facts, build, settings, device)
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        raise ChmcnnError(
            f"{saved.path} does not fit this training: {str(error).splitlines()[0]}. Remove it to start anew."
        ) from None


def _run_from(
    tensors: dict[str, Tensor],
    facts: dict[str, Any],
    build: Callable[[], nn.Module],
    settings: Settings,
    device: torch.device | str,
) -> Run:
    run = start(build, settings, device, facts["phase"])
    run.network.load_state_dict(_below("network.", tensors))
    run.best_weights = {name: value.to(device) for name, value in _below("best.", tensors).items()}
    states: dict[int, dict[str, Tensor]] = {}
    for name, value in _below("optimizer.", tensors).items():
        at, _, key = name.partition(".")
        states.setdefault(int(at), {})[key] = value
    run.optimizer.load_state_dict({"state": states, "param_groups": run.optimizer.state_dict()["param_groups"]})
    run.epoch, run.best_epoch, run.best_score = facts["epoch"], facts["best_epoch"], facts["best_score"]
    run.history = [Epoch(**epoch) for epoch in facts["history"]]
    return run


def _below(start: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}


def _fingerprint(
    settings: Settings,
    data: Batches,
    valid: Rows | None,
    parts: tuple[object, ...],
    evaluated: NDArray[np.bool_] | None,
) -> dict[str, Any]:
    """What a checkpoint must have been made with for a training to go on from it. Loaders are taken on trust."""
    buffers = [buffer for part in parts if isinstance(part, torch.nn.Module) for buffer in part.buffers()]
    return {
        "settings": asdict(settings),
        "training rows": _digest(data.x, data.y) if isinstance(data, Rows) else None,
        "validation rows": _digest(valid.x, valid.y) if valid else None,
        "hierarchy, mask or class weights": _digest(*buffers),
        "evaluated classes": None if evaluated is None else _digest(torch.tensor(evaluated)),
        "torch": torch.__version__,
    }


def _digest(*values: Tensor | csr_array) -> str:
    found = hashlib.sha256()
    for value in values:
        parts = (
            [value]
            if isinstance(value, Tensor)
            else [torch.tensor(p) for p in (value.data, value.indices, value.indptr)]
        )
        for part in parts:
            found.update(f"{tuple(part.shape)} {part.dtype}".encode())
            found.update(part.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()


def _counted(y: Tensor, evaluated: NDArray[np.bool_] | None) -> Tensor:
    return y if evaluated is None else y[:, torch.tensor(evaluated, device=y.device)]


def _devices(device: torch.device | str) -> list[int]:
    chosen = torch.device(device)
    return [chosen.index or 0] if chosen.type == "cuda" else []

"""A training that is going on: its network and optimizer, and how they are kept in a checkpoint."""

from __future__ import annotations

import hashlib
import math
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor
from torch.optim.swa_utils import get_ema_multi_avg_fn

from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array
    from torch import nn

    from chmcnn.training._checkpoint import Checkpoint
    from chmcnn.training._loop import Batches, Rows, Settings

Phase = Literal["train", "refit"]
_FACTS = ("phase", "epoch", "best_epoch", "best_score", "steps")


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one epoch gave; the score is NaN where nothing was validated."""

    phase: Phase
    number: int  # from 1
    of: int
    loss: float
    score: float
    best: int  # the best epoch so far, 0 where nothing was validated
    seconds: float


@dataclass(slots=True)
class Run:
    """A training that is going on: what a checkpoint holds."""

    network: nn.Module
    optimizer: torch.optim.Optimizer
    phase: Phase = "train"
    epoch: int = 0
    best_epoch: int = 0
    best_score: float = -math.inf
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    history: list[Epoch] = field(default_factory=list)
    averaged: dict[str, Tensor] = field(default_factory=dict)  # of the parameters; empty where none are averaged
    steps: int = 0  # that went into the average


def average(run: Run, decay: float) -> None:
    """Let the weights of this step flow into the average, which is over fewer steps at the beginning."""
    run.steps += 1
    if not run.averaged:
        run.averaged = {name: value.detach().clone() for name, value in run.network.named_parameters()}
        return
    kept = min(decay, run.steps / (9 + run.steps))
    names, values = zip(*run.network.named_parameters(), strict=True)
    get_ema_multi_avg_fn(kept)([run.averaged[name] for name in names], values, run.steps)


@contextmanager
def averaged_weights(run: Run) -> Iterator[None]:
    """Give the network its averaged weights for a while."""
    own = {name: run.network.state_dict()[name].clone() for name in run.averaged}
    run.network.load_state_dict(run.averaged, strict=False)
    yield
    run.network.load_state_dict(own, strict=False)


def seed_of_epoch(seed: int, phase: str, epoch: int) -> int:
    """A seed for each epoch, so that it does not depend on what came before."""
    return (seed * 2 + (phase == "refit")) * 1_000_003 + epoch


def start(
    build: Callable[[], nn.Module],
    settings: Settings,
    device: torch.device | str,
    phase: Phase = "train",
) -> Run:
    """Build a network and its optimizer."""
    torch.manual_seed(seed_of_epoch(settings.seed, phase, 0))
    network = build().to(device)
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    if not parameters:
        raise ChmcnnError("The network has no parameter to train.")
    kind = torch.device(device).type
    optimizer = torch.optim.Adam(
        parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=kind in {"cpu", "cuda"}
    )
    return Run(network, optimizer, phase)


def next_phase(run: Run, build: Callable[[], nn.Module], settings: Settings, device: torch.device | str) -> Run:
    """Start the refit, which knows what the training found."""
    after = start(build, settings, device, "refit")
    after.best_epoch, after.best_score, after.history = run.best_epoch, run.best_score, run.history
    after.best_weights = run.best_weights
    return after


def save(saved: Checkpoint, run: Run) -> None:
    """Write the state to a checkpoint."""
    tensors = {f"network.{name}": value for name, value in run.network.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in run.best_weights.items()}
    tensors |= {f"averaged.{name}": value for name, value in run.averaged.items()}
    tensors |= optimizer_tensors(run.optimizer)
    facts = {name: getattr(run, name) for name in _FACTS}
    saved.write(tensors, facts | {"history": [asdict(epoch) for epoch in run.history]})


def restored(
    saved: Checkpoint, build: Callable[[], nn.Module], settings: Settings, device: torch.device | str
) -> Run | None:
    """The state that a checkpoint has, if there is one."""
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
    run.averaged = {name: value.to(device) for name, value in _below("averaged.", tensors).items()}
    load_optimizer(run.optimizer, tensors)
    for name in _FACTS:
        setattr(run, name, facts[name])
    run.history = [Epoch(**epoch) for epoch in facts["history"]]
    return run


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The state of an optimizer, by names that begin with ``optimizer.``."""
    states = optimizer.state_dict()["state"]
    return {f"optimizer.{at}.{name}": value for at, state in states.items() for name, value in state.items()}


def load_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Bring an optimizer to the state that `optimizer_tensors` gave."""
    states: dict[int, dict[str, Tensor]] = {}
    for name, value in _below("optimizer.", tensors).items():
        at, _, key = name.partition(".")
        states.setdefault(int(at), {})[key] = value
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})


def _below(start: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}


def fingerprint(
    settings: Settings,
    data: Batches,
    valid: Rows | None,
    loss: object,
    evaluated: NDArray[np.bool_] | None,
) -> dict[str, Any]:
    """What a checkpoint must have been made with for a training to go on from it. Loaders are taken on trust."""
    buffers = loss.buffers() if isinstance(loss, torch.nn.Module) else ()
    return {
        "settings": asdict(settings),
        "training rows": _digest(data.x, data.y) if hasattr(data, "joined") else None,
        "validation rows": _digest(valid.x, valid.y) if valid else None,
        "hierarchy, mask or class weights": _digest(*buffers),
        "evaluated classes": None if evaluated is None else _digest(torch.tensor(evaluated)),
        "torch": torch.__version__,
    }


def described(network: nn.Module) -> str:
    """A network as it was built: its parts, and its first weights."""
    return f"{network!r} {_digest(*network.state_dict().values())}"


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

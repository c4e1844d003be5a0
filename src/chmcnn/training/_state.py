"""The state of a training: its network, its optimizer and its history."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from chmcnn.errors import ChmcnnError
from chmcnn.training._average import WeightAverage
from chmcnn.training._optimizer import create_optimizer
from chmcnn.training._ranks import ALONE
from chmcnn.training._seeding import seed_torch
from chmcnn.training._sharding import divide_like, is_sharded, shard

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch
    from torch import Tensor, nn

    from chmcnn.training._ranks import Ranks
    from chmcnn.training._settings import Settings

Phase = Literal["train", "refit"]


@dataclass(frozen=True, slots=True)
class Epoch:
    """Result of one epoch; the score is NaN where nothing was validated."""

    phase: Phase
    number: int  # from 1
    of: int
    loss: float
    score: float
    best: int  # the best epoch so far, 0 where nothing was validated
    seconds: float
    sampled: int = 0  # number of validation rows of the score, if it is that of a sample


@dataclass(slots=True)
class TrainingState:
    """The state of a training after some epochs, which a checkpoint stores."""

    network: nn.Module
    optimizer: torch.optim.Optimizer
    replica: nn.Module  # what a step calls: the network, or what averages its gradients over several processes
    phase: Phase = "train"
    average: WeightAverage = field(default_factory=WeightAverage)
    epoch: int = 0
    best_epoch: int = 0
    best_score: float = -math.inf
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    history: list[Epoch] = field(default_factory=list)
    seconds: float = 0.0  # of all epochs so far, and of what was done between them

    def record_best(self, score: float) -> None:
        """Store the weights of the network if the score is at least as good as the best so far."""
        if score >= self.best_score:  # never of NaN
            self.best_epoch, self.best_score = self.epoch, score
            self.best_weights = {name: value.clone() for name, value in self.network.state_dict().items()}

    def begin_epoch(self, settings: Settings) -> None:
        """Count an epoch, seed torch for it, and set its learning rate."""
        self.epoch += 1
        seed_epoch(settings.seed, self.phase, self.epoch)
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * _schedule(settings, self.epoch)


def _schedule(settings: Settings, epoch: int) -> float:
    """Return the factor of the learning rate in an epoch."""
    if settings.schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * (epoch - 1) / settings.epochs))
    return 1.0


def seed_epoch(seed: int, phase: Phase, epoch: int) -> None:
    """Seed torch for an epoch, so that it does not depend on the epochs before it."""
    seed_torch((seed * 2 + (phase == "refit")) * 1_000_003 + epoch)


def start(
    build: Callable[[], nn.Module],
    settings: Settings,
    device: torch.device | str,
    phase: Phase = "train",
    decay: float = 0.0,
    ranks: Ranks = ALONE,
) -> TrainingState:
    """Build a network and its optimizer, alike in all processes; ``decay`` is that of the average of the weights."""
    seed_epoch(settings.seed, phase, 0)
    network = build().to(device)
    if not any(parameter.requires_grad for parameter in network.parameters()):
        raise ChmcnnError("The network has no parameter to train.")
    if settings.sharded and ranks.size > 1:
        shard(network, device)
    optimizer = create_optimizer(network, settings, device)
    replica = network if is_sharded(network) else ranks.replicate(network)
    return TrainingState(network, optimizer, replica, phase, WeightAverage(decay))


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the state of an optimizer, by names that begin with ``optimizer.``."""
    states = optimizer.state_dict()["state"]
    return {f"optimizer.{at}.{name}": value for at, state in states.items() for name, value in state.items()}


def load_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Load the state that `optimizer_tensors` returned."""
    states: dict[int, dict[str, Tensor]] = {}
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for name, value in select_tensors("optimizer.", tensors).items():
        at, _, key = name.partition(".")
        example = parameters[int(at)]
        states.setdefault(int(at), {})[key] = divide_like(value, example) if value.shape == example.shape else value
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})


def select_tensors(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}

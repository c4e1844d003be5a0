"""Settings of a training, checked as everywhere else by `chmcnn.settings`."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

from chmcnn.settings import SEED, SETTINGS, check

_OPTIONAL = ("patience", "max_minutes", "validation_sample")
"""Settings that may be None, for no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to train.

    Attributes
    ----------
    epochs
        Maximum number of epochs.
    batch_size
        Rows per step.
    learning_rate, weight_decay
        Learning rate and weight decay of Adam.
    patience
        Number of epochs without a validation score as good as the best before training stops; None trains all epochs.
    patience_growth
        The patience is at least this share of the best epoch. 0 leaves it as it is, as the paper does.
    refit
        Whether to train a new network on training and validation data for the best number of epochs, as the paper does.
        Otherwise the weights of the best epoch are kept.
    schedule
        Course of the learning rate: constant, or a cosine that decays to 0 over ``epochs``.
    averaging
        Number of epochs in the moving average of the weights that is validated and kept. 0 keeps the last weights, as
        the paper does. Data without a length is not averaged over.
    max_minutes
        Wall-clock time that the training may take, over all its resumptions; None for no limit. When it is over, also
        within an epoch, the training so far is validated, and the best weights are kept. A refit starts only if it is
        expected to finish in time. The weights then depend on the speed of the machine.
    validation_sample
        Number of validation rows that are scored after each epoch; None scores all. The sample is drawn once, by the
        seed. Thresholds are tuned on all validation rows, and a refit trains on all of them.
    sharded
        Whether several processes divide weights, gradients and the state of the optimizer among them (FSDP2). Otherwise
        each has all of them (DDP). The result is the same, in less memory and more time.
    precision
        ``"bfloat16"`` computes the network in half precision where torch's autocast allows it.
    seed
        Seed of the order of the rows, and of everything that the network draws at random.
    """

    epochs: int = 200
    batch_size: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    patience: int | None = 20
    patience_growth: float = 0.0
    refit: bool = True
    schedule: Literal["constant", "cosine"] = "constant"
    averaging: float = 0.0
    max_minutes: float | None = None
    validation_sample: int | None = None
    sharded: bool = False
    precision: Literal["float32", "bfloat16"] = "float32"
    seed: int = 0

    def patience_after(self, best_epoch: int) -> float:
        """Return how many epochs without a better score end the training; infinity if none do.

        >>> settings = Settings(patience=10, patience_growth=0.2)
        >>> settings.patience_after(40), settings.patience_after(100)
        (10, 20.0)
        """
        return math.inf if self.patience is None else max(self.patience, self.patience_growth * best_epoch)

    def __post_init__(self) -> None:
        """Check each setting, and make numpy numbers plain ones, which checkpoints can hold."""
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if name not in _OPTIONAL or value is not None:
                domain = SEED.domain if name == "seed" else SETTINGS[name].domain
                object.__setattr__(self, name, check(name, value, domain))

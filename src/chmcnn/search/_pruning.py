"""Which trials are pruned: those that are worse than others at the same epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import optuna

if TYPE_CHECKING:
    from collections.abc import Callable

    from optuna.trial import FrozenTrial

REFERENCES = 5
"""Number of finished trials, with a score at the same epoch, that a trial is compared with before it is pruned."""
_WARMUP = 20
"""Epochs before a trial may be pruned, the paper's patience: early scores depend more on the learning rate and the
batch size than on what is reached in the end. For six data sets the paper chose 1e-5, the slowest rate of its grid."""


def create_pruner(*, pruning: bool) -> optuna.pruners.BasePruner:
    """Return the pruner of a study; without pruning, one that never prunes."""
    if not pruning:
        return optuna.pruners.NopPruner()
    return optuna.pruners.MedianPruner(REFERENCES, _WARMUP, n_min_trials=REFERENCES)


class Rivals(NamedTuple):
    """Finished trials that a worker compares a trial with, without the database that they are in."""

    pruner: optuna.pruners.BasePruner
    finished: tuple[FrozenTrial, ...]

    def compare(self) -> Callable[[int, float], bool]:
        """Return a function that takes the number of an epoch and its score, and says whether to prune the trial."""
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(pruner=self.pruner, direction="maximize")  # in memory
        study.add_trials(self.finished)
        trial = study.ask()

        def is_worse(epoch: int, score: float) -> bool:
            trial.report(score, epoch)
            return trial.should_prune()

        return is_worse

"""The trials of a search: taken one after the other, and trained, by this process or by several."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from chmcnn._workers import processes
from chmcnn._workers.threads import limited, share
from chmcnn.classifier import CHMCNNClassifier
from chmcnn.comparison import digest
from chmcnn.datasets.dataset import Dataset, Table
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from optuna.trial import Trial

    from chmcnn.search._search import Plan
    from chmcnn.search._study import Study
    from chmcnn.training import Epoch


class Parts(NamedTuple):
    """Rows to train on, and to validate on (None where the estimator draws them from the first)."""

    train: Table
    valid: Table | None
    evaluated: NDArray[np.bool_] | None

    @classmethod
    def of(cls, data: Dataset | Table) -> Parts:
        """Those of a data set without its test rows; of a table all rows."""
        if isinstance(data, Dataset):
            return cls(data.train, data.valid, data.evaluated)
        return cls(data, None, None)


class Task(NamedTuple):
    """What a process needs to know."""

    parts: Parts
    plan: Plan
    folder: Path
    title: str
    storage: str | None
    device: str

    def study(self) -> Any:  # noqa: ANN401 -- a context manager of a module that needs Optuna
        """What is known to all processes."""
        from chmcnn.search._study import opened

        rows = [self.parts.train, *([] if self.parts.valid is None else [self.parts.valid])]
        facts = {
            "data": digest(rows),
            "seed": self.plan.seed,
            "space": self.plan.space,
            "settings": self.plan.settings,
            "sampler": self.plan.sampler,
            "pruning": self.plan.pruning,
        }
        return opened(self.folder, self.storage, self.plan, facts, self.title)


def go(task: Task, study: Study, jobs: int, told: Callable[[], object]) -> None:
    """Work, alone or with other processes, until there are enough trials."""
    while jobs:
        left = study.open()
        threads = share(min(jobs, left or 1))
        told()
        if left and jobs == 1:
            _work(task, study, threads, told)
        elif left:
            _start_all([partial(_start, task, threads)] * min(jobs, left), study, told)
        elif study.awaited():
            time.sleep(1)  # another command is at the last trials; should it be killed, they are for this one
        else:
            return


def _start_all(workers: list[Callable[[], None]], study: Study, told: Callable[[], object]) -> None:
    """Let processes work until all have ended; some may be killed, as long as trials are begun."""
    before = study.states()
    ends = [end for _, end in processes.each(workers, len(workers), idle=told)]
    if all(isinstance(end, processes.Killed) for end in ends) and study.states() == before:
        raise ChmcnnError(f"No process began a trial; use fewer --jobs. Of the first: {ends[0]}")


def _start(task: Task, threads: int) -> None:
    """Work in a process of its own."""
    with task.study() as study:
        _work(task, study, threads, lambda: None)


def _work(task: Task, study: Study, threads: int, told: Callable[[], object]) -> None:
    """Take trials as long as there are any."""
    with study.working(), limited(threads):
        while (trial := study.take()) is not None:
            same = study.same(trial)
            if same is None:
                _try(task, study, trial)
            else:
                pruned = same.state.name == "PRUNED"
                study.end(trial, same.value, pruned=pruned, reason=f"the settings are those of trial {same.number}")
            told()


def _try(task: Task, study: Study, trial: Trial) -> None:
    """Train with the settings of a trial; what cannot be trained with is a result too."""
    from optuna import TrialPruned

    def watch(epoch: Epoch) -> None:
        if math.isnan(epoch.score):
            raise ChmcnnError("There are no rows to validate on: the validation share is 0, or they have no class.")
        trial.report(epoch.score, epoch.number)
        if trial.should_prune():
            raise TrialPruned

    train, valid, evaluated = task.parts
    settings = trial.user_attrs["settings"] | {"refit": False}
    model = CHMCNNClassifier(
        train.hierarchy, **settings, evaluated=evaluated, device=task.device, random_state=task.plan.seed, verbose=watch
    )
    try:
        model.fit(train.X, train.Y, validation_data=None if valid is None else (valid.X, valid.Y))
    except TrialPruned:
        study.end(trial, None, pruned=True)
    except ChmcnnError as error:
        study.end(trial, None, reason=str(error))
    except Exception as error:  # noqa: BLE001 -- such as too little memory: other settings may do
        study.end(trial, None, reason=f"{type(error).__name__}: {error}")
    else:
        study.end(trial, model.best_score_)

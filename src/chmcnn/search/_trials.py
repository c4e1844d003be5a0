"""The trials of a search: taken one after the other and trained, in this process or by an executor."""

from __future__ import annotations

import math
import time
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from chmcnn._workers import KilledError, iterate_completed, limit_threads, open_executor, share_cores
from chmcnn.classifier import CHMCNNClassifier
from chmcnn.comparison import PRELOAD, compute_digest
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from optuna.trial import Trial

    from chmcnn.comparison import Split
    from chmcnn.search._search import SearchPlan
    from chmcnn.search._study import Study
    from chmcnn.training import Epoch

    Notify = Callable[[], object]


class SearchSpec(NamedTuple):
    """What a worker process needs for a search."""

    split: Split
    plan: SearchPlan
    folder: Path
    title: str
    storage: str | None = None

    def open_study(self) -> AbstractContextManager[Study]:
        """Open the study that all processes share."""
        from chmcnn.search._study import open_study

        rows = [self.split.train, *([] if self.split.valid is None else [self.split.valid])]
        return open_study(self, compute_digest(rows))


def run_trials(spec: SearchSpec, study: Study, jobs: int | Executor, notify: Notify) -> None:
    """Run trials, in this process or in others, until there are enough."""
    while jobs:
        pending = study.count_open()
        notify()
        if pending and jobs == 1:
            _run_open_trials(spec, study, share_cores(1), notify)
        elif pending:
            _run_workers(spec, study, jobs, pending, notify)
        elif study.has_running():
            time.sleep(1)  # another command runs the last trials; if it is killed, this one takes them
        else:
            return


def _run_workers(spec: SearchSpec, study: Study, jobs: int | Executor, pending: int, notify: Notify) -> None:
    """Let processes run trials until all have ended; some may be killed, as long as trials are started."""
    before = study.states()
    workers = pending if isinstance(jobs, Executor) else min(jobs, pending)  # a late worker may find no trial left
    killed = []
    with open_executor(jobs, workers, PRELOAD) as (executor, threads):
        calls = [partial(_run_worker, spec, threads)] * workers
        for _, future in iterate_completed(executor, calls, on_idle=notify):
            try:
                future.result()
            except KilledError as error:
                killed.append(error)
    if len(killed) == workers and study.states() == before:
        raise ChmcnnError(f"No process started a trial: {killed[0]}. Run fewer processes at once.")


def _run_worker(spec: SearchSpec, threads: int | None) -> None:
    """Run trials in a process of its own."""
    with spec.open_study() as study:
        _run_open_trials(spec, study, threads, lambda: None)


def _run_open_trials(spec: SearchSpec, study: Study, threads: int | None, notify: Notify) -> None:
    """Take and run trials until none is left."""
    with study.hold_worker_lock(), limit_threads(threads):
        while (trial := study.take()) is not None:
            same = study.find_same(trial)
            if same is None:
                _run_trial(spec, study, trial)
            else:
                pruned = same.state.name == "PRUNED"
                study.finish(trial, same.value, pruned=pruned, reason=f"same settings as trial {same.number}")
            notify()


def _run_trial(spec: SearchSpec, study: Study, trial: Trial) -> None:
    """Train with the settings of a trial; an error is a result too."""
    from optuna import TrialPruned

    def watch(epoch: Epoch) -> None:
        if math.isnan(epoch.score):
            raise ChmcnnError("No rows to validate on: the validation share is 0, or they have no class.")
        trial.report(epoch.score, epoch.number)
        if trial.should_prune():
            raise TrialPruned

    split, plan = spec.split, spec.plan
    model = CHMCNNClassifier(
        split.train.hierarchy,
        **trial.user_attrs["settings"] | {"refit": False},
        evaluated=split.evaluated,
        device=plan.device,
        random_state=plan.seed,
        verbose=watch,
    )
    try:
        split.fit(model)
    except TrialPruned:
        study.finish(trial, None, pruned=True)
    except ChmcnnError as error:
        study.finish(trial, None, reason=str(error))
    except Exception as error:  # noqa: BLE001 -- such as too little memory: other settings may work
        study.finish(trial, None, reason=f"{type(error).__name__}: {error}")
    else:
        study.finish(trial, model.best_score_)

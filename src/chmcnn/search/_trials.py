"""The trials of a search: asked for and told here, and trained by an executor, which needs no database."""

from __future__ import annotations

import math
import time
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from chmcnn._workers import (
    InlineExecutor,
    KilledError,
    Workers,
    iterate_completed,
    limit_threads,
    open_workers,
    share_cores,
)
from chmcnn.classifier import CHMCNNClassifier
from chmcnn.comparison import PRELOAD, compute_digest
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor, Future
    from contextlib import AbstractContextManager
    from pathlib import Path

    from optuna.trial import Trial

    from chmcnn._typing import JSONValue
    from chmcnn.comparison import Split
    from chmcnn.search._pruning import Rivals
    from chmcnn.search._search import SearchPlan
    from chmcnn.search._study import Study
    from chmcnn.training import Epoch

    Notify = Callable[[], object]


class SearchSpec(NamedTuple):
    """What is searched, and where its trials are stored."""

    split: Split
    plan: SearchPlan
    folder: Path
    title: str
    storage: str | None = None

    def open_study(self) -> AbstractContextManager[Study]:
        """Open the study that all processes share."""
        from chmcnn.search._storage import open_study

        rows = [self.split.train, *([] if self.split.valid is None else [self.split.valid])]
        return open_study(self, compute_digest(rows))


class Trained(NamedTuple):
    """What a worker says about a trial."""

    scores: dict[int, float]  # of each epoch
    best: float | None = None  # None if it was pruned or failed
    pruned: bool = False
    reason: str = ""  # of a failure


def run_trials(spec: SearchSpec, study: Study, jobs: int | None, executor: Executor | None, notify: Notify) -> None:
    """Run trials, in this process or by others, until there are enough."""
    while jobs != 0:
        pending = study.count_open()
        notify()
        if pending:
            with study.hold_worker_lock(), _open_workers(jobs, executor, pending) as workers:
                _run_open_trials(spec, study, workers, notify)
        elif study.has_running():
            time.sleep(1)  # another command runs the last trials; if it is killed, this one takes them
        else:
            return


def _open_workers(jobs: int | None, executor: Executor | None, pending: int) -> AbstractContextManager[Workers]:
    if executor is None and jobs in (None, 1):
        return nullcontext(Workers(InlineExecutor(), share_cores(1)))
    return open_workers(jobs, executor, tasks=pending, preload=PRELOAD)


def _run_open_trials(spec: SearchSpec, study: Study, workers: Workers, notify: Notify) -> None:
    """Take and run trials until none is left."""
    train = partial(train_trial, spec.split, device=spec.plan.device, seed=spec.plan.seed, threads=workers.threads)

    def take() -> tuple[Trial, Future[Trained]] | None:
        while (trial := study.take()) is not None:
            same = study.find_same(trial)
            if same is None:
                settings = trial.user_attrs["settings"]
                return trial, workers.executor.submit(train, settings, study.find_rivals())
            pruned = same.state.name == "PRUNED"
            study.finish(trial, same.value, pruned=pruned, reason=f"same settings as trial {same.number}")
            notify()
        return None

    for trial, future in iterate_completed(take, workers.limit, on_idle=notify):
        try:
            trained = future.result()
        except KilledError:
            study.restart(trial)
        else:
            for number, score in trained.scores.items():
                trial.report(score, number)
            study.finish(trial, trained.best, pruned=trained.pruned, reason=trained.reason)
        notify()


def train_trial(
    split: Split,
    settings: Mapping[str, JSONValue],
    rivals: Rivals | None,
    *,
    device: str,
    seed: int,
    threads: int | None,
) -> Trained:
    """Train with the settings of a trial; an error is a result too."""
    scores: dict[int, float] = {}
    is_worse = None if rivals is None else rivals.compare()

    def watch(epoch: Epoch) -> None:
        if math.isnan(epoch.score):
            raise ChmcnnError("No rows to validate on: the validation share is 0, or they have no class.")
        scores[epoch.number] = epoch.score
        if is_worse and is_worse(epoch.number, epoch.score):
            raise _PrunedError

    model = CHMCNNClassifier(
        split.train.hierarchy,
        **dict(settings) | {"refit": False},
        evaluated=split.evaluated,
        device=device,
        random_state=seed,
        verbose=watch,
    )
    try:
        with limit_threads(threads):
            split.fit(model)
    except _PrunedError:
        return Trained(scores, pruned=True)
    except ChmcnnError as error:
        return Trained(scores, reason=str(error))
    except Exception as error:  # noqa: BLE001 -- such as too little memory: other settings may work
        return Trained(scores, reason=f"{type(error).__name__}: {error}")
    return Trained(scores, model.best_score_)


class _PrunedError(Exception):
    """Ends the training of a trial that is worse than others."""

"""The trials of a search, stored by Optuna: which process takes which, and what happens to interrupted ones.

All decisions are made under the lock of the folder. A command that takes trials holds a lock of its own while it lives:
the lock shows immediately, without a timeout, that the command of a trial is gone.
"""

from __future__ import annotations

import json
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import filelock
import numpy as np
import optuna
from optuna.trial import TrialState

from chmcnn._io.files import atomic
from chmcnn._io.strict_json import dumps
from chmcnn.search._pruning import REFERENCES, Rivals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from optuna.trial import FrozenTrial, Trial

    from chmcnn.search._space import Space

BEST, LOCKS = "best.json", ".locks"
"""The best settings so far, and the folder of locks."""
MAX_STARTS = 5
"""Maximum number of starts of a trial whose process is killed; it may need too much memory."""


@dataclass(slots=True)
class Study:
    """The trials in a storage, as one process sees them."""

    study: optuna.Study
    folder: Path
    space: Space
    total: int
    grid: list[dict[str, int]] | None  # all points, where a grid is searched
    seed: int
    fixed: Mapping[str, Any]  # settings of all trials
    worker: str = field(default_factory=lambda: uuid.uuid4().hex)

    # Taking trials

    @contextmanager
    def hold_worker_lock(self) -> Iterator[None]:
        """Show other processes that this one is alive."""
        path = self._lock_path(self.worker)
        with filelock.FileLock(path):
            yield
        path.unlink(missing_ok=True)  # not after an error: the file shows that the trial belongs to this folder

    def take(self) -> Trial | None:
        """Return the next trial: an interrupted one, or a new one; None if there are enough."""
        with self._lock_study():
            trials = self.trials()
            # A trial waits if a process was killed inside this block.
            waiting = any(trial.state == TrialState.WAITING for trial in trials)
            if not waiting and not any(map(self._restart_dead, self._find_dead(trials))):
                if self._count_missing(trials) <= 0:
                    return None
                taken = _collect_keys(trials)
                self._enqueue(next((point for point in self.grid or () if _to_key(point) not in taken), {}))
            # Seeded by the number of the trial: no two processes draw the same, whenever either started.
            number = len(self.study.get_trials(deepcopy=False)) - 1
            seed = int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])
            self.study.sampler = optuna.samplers.TPESampler(seed=seed)
            trial = self.study.ask(self.space.distributions())
            trial.set_user_attr("worker", self.worker)
            trial.set_user_attr("settings", dict(self.fixed) | self.space.settings(trial.params))
            return trial

    def finish(self, trial: Trial, score: float | None, *, pruned: bool = False, reason: str = "") -> None:
        """Store the result of a trial, and the best settings so far."""
        if reason:
            trial.set_user_attr("reason", reason)
        state = TrialState.PRUNED if pruned else TrialState.FAIL if score is None else TrialState.COMPLETE
        with self._lock_study():
            self.study.tell(trial, score if state == TrialState.COMPLETE else None, state)
            self.write_best()

    def restart(self, trial: Trial) -> bool:
        """End a trial whose process is gone, and let it start again, unless that was done too often."""
        with self._lock_study():
            return self._restart(trial, trial.params)

    def find_same(self, trial: Trial) -> FrozenTrial | None:
        """Return an ended trial with the same settings, or None."""
        ended = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))
        return next((other for other in ended if other.params == trial.params), None)

    # Looking at trials

    def find_rivals(self) -> Rivals | None:
        """Return what a worker needs to prune a trial; None if it must not, or there are too few trials."""
        finished = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        prunes = not isinstance(self.study.pruner, optuna.pruners.NopPruner) and len(finished) >= REFERENCES
        return Rivals(self.study.pruner, tuple(finished)) if prunes else None

    def trials(self) -> list[FrozenTrial]:
        """Return all trials that count: not those that were restarted as another one."""
        trials = self.study.get_trials(deepcopy=False)
        restarted = {trial.user_attrs.get("again") for trial in trials}
        return [trial for trial in trials if trial.number not in restarted]

    def count_open(self) -> int:
        """Return the number of trials that could be taken now."""
        with self._lock_study():
            trials = self.trials()
            waiting = sum(trial.state == TrialState.WAITING for trial in trials)
            return waiting + len(self._find_dead(trials)) + max(self._count_missing(trials), 0)

    def states(self) -> list[TrialState]:
        """Return the states of all trials ever started; a process that takes one changes them."""
        return [trial.state for trial in self.study.get_trials(deepcopy=False)]

    def has_running(self) -> bool:
        """Whether another process of this folder runs a trial."""
        running = [trial for trial in self.trials() if trial.state == TrialState.RUNNING]
        return any(self._worker_lock(trial).exists() for trial in running)

    def find_best(self) -> FrozenTrial | None:
        """Return the trial with the best score, the first of equal ones."""
        ended = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return max(ended, key=lambda trial: (trial.value, -trial.number), default=None)

    def write_best(self) -> None:
        """Write the best settings so far, as ``chmcnn train --config`` takes them."""
        best = self.find_best()
        if best is not None:
            with atomic(self.folder / BEST) as temporary:
                temporary.write_text(dumps(best.user_attrs["settings"]) + "\n", encoding="utf-8")

    def _count_missing(self, trials: list[FrozenTrial]) -> int:
        return self.total - (len(trials) if self.grid is None else len(_collect_keys(trials)))

    def _enqueue(self, point: Mapping[str, Any], **facts: int) -> None:
        """Fix the next trial; Optuna chooses what the point leaves open."""
        self.study.enqueue_trial(dict(point), {"worker": self.worker, **facts})

    def _restart_dead(self, dead: FrozenTrial) -> bool:
        """Restart a trial of a command that is gone, perhaps while it still wrote down what the trial is to try."""
        is_restarted = self._restart(dead, dead.system_attrs.get("fixed_params", {}) | dead.params)
        lock = self._worker_lock(dead)
        running = [trial for trial in self.trials() if trial.state == TrialState.RUNNING]
        if lock not in map(self._worker_lock, running):  # it shows that its other trials are dead, too
            lock.unlink(missing_ok=True)
        return is_restarted

    def _restart(self, dead: Trial | FrozenTrial, point: Mapping[str, Any]) -> bool:
        """Let the new trial wait before the old one is ended: one without the other would be a failed trial."""
        starts = int(dead.user_attrs.get("begun", 1))
        if starts < MAX_STARTS:
            self._enqueue(point, again=dead.number, begun=starts + 1)
        self.study.tell(dead.number, state=TrialState.FAIL)
        return starts < MAX_STARTS

    def _find_dead(self, trials: list[FrozenTrial]) -> list[FrozenTrial]:
        """Return trials whose process is gone; one without a lock in this folder was taken on another machine."""
        running = [trial for trial in trials if trial.state == TrialState.RUNNING]
        return [trial for trial in running if self._is_free(self._worker_lock(trial))]

    def _is_free(self, lock: Path) -> bool:
        if lock == self._lock_path(self.worker) or not lock.exists():
            return False
        try:
            with filelock.FileLock(lock).acquire(blocking=False):
                return True
        except filelock.Timeout:
            return False

    @contextmanager
    def _lock_study(self) -> Iterator[None]:
        with filelock.FileLock(self._lock_path("study")):
            yield

    def _worker_lock(self, trial: FrozenTrial) -> Path:
        """Return the lock of the process of a trial; none exists if another machine has only just drawn the trial."""
        return self._lock_path(trial.user_attrs.get("worker", "unknown"))

    def _lock_path(self, name: str) -> Path:
        return self.folder / LOCKS / f"{name}.lock"


def _collect_keys(trials: list[FrozenTrial]) -> set[str]:
    return {_to_key(trial.params) for trial in trials}


def _to_key(point: Mapping[str, Any]) -> str:
    return json.dumps(point, sort_keys=True)

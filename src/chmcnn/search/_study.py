"""The trials of a search, kept by Optuna: who takes which, and what becomes of those that were never ended.

All decisions are made under the lock of the folder. A process that takes trials holds a lock of its own as long as it
lives: a trial whose process is gone is told by that lock, at once, and without a clock.
"""

from __future__ import annotations

import json
import time
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import filelock
import numpy as np
import optuna
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState
from sqlalchemy.exc import IntegrityError, ProgrammingError

from chmcnn._io.files import atomic
from chmcnn._io.strict_json import dumps
from chmcnn.errors import ChmcnnError, FileError
from chmcnn.search._space import Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from optuna.trial import FrozenTrial, Trial

    from chmcnn.search._search import Plan

_DATABASE, _BEST = "study.db", "best.json"
_LOCKS = ".locks"
BEGUN_AT_MOST = 5
"""How often a trial is begun whose process is killed each time; memory may be too small for it."""
_TRIES = 5
"""How often a database is opened that another machine is making tables in."""
_JUDGES = 5
"""No trial is pruned unless so many finished ones had come as far: they are what is judged by."""
_WARMUP = 20
"""Nor is any pruned before so many epochs, the paper's patience: early scores tell more of the learning rate and the
batch size than of what is reached in the end. For six data sets the paper chose 1e-5, the slowest rate of its grid."""


@dataclass(slots=True)
class Study:
    """Trials in a storage, as one process sees them."""

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
    def working(self) -> Iterator[None]:
        """Let others see that this process is alive."""
        path = self._lock_of(self.worker)
        with filelock.FileLock(path):
            yield
        path.unlink(missing_ok=True)  # not after an error: the file tells that the trial was one of this folder

    def take(self) -> Trial | None:
        """The next trial: one that was never ended, or a new one; None if there are enough."""
        with self._deciding():
            trials = self.trials()
            waiting = any(trial.state == TrialState.WAITING for trial in trials)  # of a process killed in this block
            if not waiting and not any(map(self._again, self._dead(trials))):
                if self._missing(trials) <= 0:
                    return None
                done = _points(trials)
                self._enqueue(next((point for point in self.grid or () if _key(point) not in done), {}))
            # By the number of the trial: no two processes draw the same, and it does not matter when either started.
            number = len(self.study.get_trials(deepcopy=False)) - 1
            drawn = int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])
            self.study.sampler = optuna.samplers.TPESampler(seed=drawn)
            trial = self.study.ask(self.space.distributions())
            trial.set_user_attr("worker", self.worker)
            trial.set_user_attr("settings", dict(self.fixed) | self.space.settings(trial.params))
            return trial

    def end(self, trial: Trial, score: float | None, *, pruned: bool = False, reason: str = "") -> None:
        """Keep what came of a trial, and the best setting so far."""
        if reason:
            trial.set_user_attr("reason", reason)
        state = TrialState.PRUNED if pruned else TrialState.FAIL if score is None else TrialState.COMPLETE
        with self._deciding():
            self.study.tell(trial, score if state == TrialState.COMPLETE else None, state)
            self.write_best()

    def same(self, trial: Trial) -> FrozenTrial | None:
        """An ended trial of the same settings, which need not be trained again."""
        ended = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))
        return next((each for each in ended if each.params == trial.params), None)

    # What there is

    def trials(self) -> list[FrozenTrial]:
        """All that count: not those that were begun again as another one."""
        found = self.study.get_trials(deepcopy=False)
        again = {trial.user_attrs.get("again") for trial in found}
        return [trial for trial in found if trial.number not in again]

    def open(self) -> int:
        """How many trials could be taken now."""
        with self._deciding():
            trials = self.trials()
            waiting = sum(trial.state == TrialState.WAITING for trial in trials)
            return waiting + len(self._dead(trials)) + max(self._missing(trials), 0)

    def states(self) -> list[TrialState]:
        """Of all trials ever begun; a process that takes one changes them."""
        return [trial.state for trial in self.study.get_trials(deepcopy=False)]

    def awaited(self) -> bool:
        """Whether another process of this folder is at a trial."""
        running = [trial for trial in self.trials() if trial.state == TrialState.RUNNING]
        return any(self._lock_of_taker(trial).exists() for trial in running)

    def best(self) -> FrozenTrial | None:
        """The trial with the best score; of equal ones the first."""
        ended = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return max(ended, key=lambda trial: (trial.value, -trial.number), default=None)

    def write_best(self) -> None:
        """Write the best setting so far, as ``chmcnn train --config`` takes it."""
        best = self.best()
        if best is not None:
            with atomic(self.folder / _BEST) as temporary:
                temporary.write_text(dumps(best.user_attrs["settings"]) + "\n", encoding="utf-8")

    def _missing(self, trials: list[FrozenTrial]) -> int:
        return self.total - (len(trials) if self.grid is None else len(_points(trials)))

    def _enqueue(self, point: Mapping[str, Any], **facts: int) -> None:
        """Say what the next trial is; what the point does not say, Optuna chooses."""
        self.study.enqueue_trial(dict(point), {"worker": self.worker, **facts})

    def _again(self, dead: FrozenTrial) -> bool:
        """End a trial whose process is gone, and begin it again, unless that was done too often."""
        self.study.tell(dead.number, state=TrialState.FAIL)
        self._lock_of_taker(dead).unlink(missing_ok=True)
        begun = dead.user_attrs.get("begun", 1)
        if begun < BEGUN_AT_MOST:
            self._enqueue(dead.params, again=dead.number, begun=begun + 1)
        return bool(begun < BEGUN_AT_MOST)

    def _dead(self, trials: list[FrozenTrial]) -> list[FrozenTrial]:
        """Trials whose process is gone; what has no lock in this folder was taken on another machine."""
        running = [trial for trial in trials if trial.state == TrialState.RUNNING]
        return [trial for trial in running if self._is_free(self._lock_of_taker(trial))]

    def _is_free(self, lock: Path) -> bool:
        if lock == self._lock_of(self.worker) or not lock.exists():
            return False
        try:
            with filelock.FileLock(lock).acquire(blocking=False):
                return True
        except filelock.Timeout:
            return False

    @contextmanager
    def _deciding(self) -> Iterator[None]:
        with filelock.FileLock(self._lock_of("study")):
            yield

    def _lock_of_taker(self, trial: FrozenTrial) -> Path:
        """The lock of the process that is at a trial; there is none if another machine has only just drawn it."""
        return self._lock_of(trial.user_attrs.get("worker", "unknown"))

    def _lock_of(self, name: str) -> Path:
        return self.folder / _LOCKS / f"{name}.lock"


def is_one(folder: Path) -> bool:
    """Whether a folder is that of a search."""
    return (folder / _LOCKS).is_dir() or (folder / _DATABASE).is_file()


@contextmanager
def opened(folder: Path, storage: str | None, plan: Plan, facts: Mapping[str, Any], title: str) -> Iterator[Study]:
    """The study of a folder, or in a storage that several machines share; a new one, if there is none.

    One that was made for something else is refused.
    """
    lock = folder / _LOCKS / "study.lock"
    made = _make(lock.parent)
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space, kept = Space.of(plan.space), None
    grid = space.grid(plan.seed) if plan.sampler == "grid" else None
    judge = optuna.pruners.MedianPruner(_JUDGES, _WARMUP, n_min_trials=_JUDGES)
    pruner = judge if plan.pruning else optuna.pruners.NopPruner()
    try:
        with _acquire(lock):
            kept = _storage(folder, storage)
            found = optuna.create_study(
                storage=kept,
                study_name=f"chmcnn search of {title}" if storage else "search",
                pruner=pruner,
                direction="maximize",
                load_if_exists=True,
            )
            _refuse_other(found.user_attrs.get("facts"), facts, folder, "storage" if storage else "folder with -o")
            found.set_user_attr("facts", facts)
        yield Study(found, folder, space, plan.total, grid, plan.seed, plan.settings)
    finally:
        optuna.logging.set_verbosity(before)
        if kept is None and made:  # others that are here may hold the lock, or wait for it
            with suppress(OSError):
                lock.unlink()
                lock.parent.rmdir()
        if isinstance(kept, optuna.storages.RDBStorage):
            kept.remove_session()
            kept.engine.dispose()


def _make(folder: Path) -> bool:
    """Make a folder; False if it is there."""
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    except OSError as error:
        raise unwritable(folder.parent, error) from None
    return True


def _acquire(lock: Path) -> AbstractContextManager[object]:
    try:
        return filelock.FileLock(lock).acquire()
    except OSError as error:
        raise unwritable(lock.parent.parent, error) from None


def unwritable(folder: Path, error: OSError) -> FileError:
    """What to say of a folder that nothing can be written to."""
    return FileError(f"the folder cannot be written to: {error.strerror}; name another one with -o", folder)


def _storage(folder: Path, given: str | None) -> optuna.storages.BaseStorage:
    try:
        if given is None:
            wait = {"connect_args": {"timeout": 100}}  # seconds, for other processes that write
            return optuna.storages.RDBStorage(f"sqlite:///{folder / _DATABASE}", wait)
        if "://" in given:
            return _shared(given)
        return optuna.storages.JournalStorage(JournalFileBackend(given))
    except ImportError as error:
        driver = getattr(error.__cause__, "name", "a driver of the database")
        raise ChmcnnError(f"The storage needs {driver}, which is not installed: pip install it.") from None
    except Exception as error:  # noqa: BLE001 -- whatever the driver of a database raises
        place = "The storage" if given else str(folder / _DATABASE)
        reason = str(error).splitlines()[0].removesuffix(".")
        raise ChmcnnError(f"{place} cannot be opened: {reason}. Name another one.") from None


def _shared(url: str) -> optuna.storages.RDBStorage:
    """Open a database of several machines, another of which may be making its tables right now."""
    for _ in range(_TRIES - 1):
        try:
            return optuna.storages.RDBStorage(url)
        except (IntegrityError, ProgrammingError):
            time.sleep(1)
    return optuna.storages.RDBStorage(url)


def _refuse_other(found: Mapping[str, Any] | None, wanted: Mapping[str, Any], folder: Path, place: str) -> None:
    plain = json.loads(dumps(wanted))
    differing = [name for name in plain if found is not None and found.get(name) != plain[name]]
    if differing:
        raise FileError(
            f"it is a search with other {' and '.join(differing)}; name another {place}, or remove this one", folder
        )


def _points(trials: list[FrozenTrial]) -> set[str]:
    return {_key(trial.params) for trial in trials}


def _key(point: Mapping[str, Any]) -> str:
    return json.dumps(point, sort_keys=True)

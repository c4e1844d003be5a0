"""The trials of a search, stored by Optuna: which process takes which, and what happens to interrupted ones.

All decisions are made under the lock of the folder. A command that takes trials holds a lock of its own while it lives:
the lock shows immediately, without a timeout, that the command of a trial is gone.
"""

from __future__ import annotations

import json
import time
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import filelock
import numpy as np
import optuna
from optuna.exceptions import OptunaError, StorageInternalError
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState
from sqlalchemy.exc import IntegrityError, ProgrammingError, SQLAlchemyError

from chmcnn._io.files import atomic
from chmcnn._io.strict_json import dumps
from chmcnn.errors import ChmcnnError, FileError
from chmcnn.search._space import Space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from optuna.trial import FrozenTrial, Trial

    from chmcnn.search._trials import SearchSpec

_DATABASE, _BEST = "study.db", "best.json"
_LOCKS = ".locks"
MAX_STARTS = 5
"""Maximum number of starts of a trial whose process is killed; it may need too much memory."""
_TRIES = 5
"""Number of attempts to open a database in which another machine creates tables."""
_REFERENCES = 5
"""Number of finished trials, with a score at the same epoch, that a trial is compared with before it is pruned."""
_WARMUP = 20
"""Epochs before a trial may be pruned, the paper's patience: early scores depend more on the learning rate and the
batch size than on what is reached in the end. For six data sets the paper chose 1e-5, the slowest rate of its grid."""


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
        prunes = not isinstance(self.study.pruner, optuna.pruners.NopPruner) and len(finished) >= _REFERENCES
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
            with atomic(self.folder / _BEST) as temporary:
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
        return self.folder / _LOCKS / f"{name}.lock"


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


@contextmanager
def explain_storage(place: str) -> Iterator[None]:
    """Let errors of the database, such as a full disk, say where they come from and that the search resumes."""
    try:
        yield
    except (SQLAlchemyError, StorageInternalError) as error:
        cause = str(error.__cause__ or error).splitlines()[0].removesuffix(".")
        raise ChmcnnError(
            f"{place} cannot be read or written: {cause}. Make sure that its disk is there and has space, and run the "
            "same command again: it resumes the search."
        ) from None


def is_search_folder(folder: Path) -> bool:
    """Whether a folder holds a search."""
    return (folder / _LOCKS).is_dir() or (folder / _DATABASE).is_file()


@contextmanager
def open_study(spec: SearchSpec, digest: str) -> Iterator[Study]:
    """Open the study of a folder, or in a storage that several machines share; create it if it does not exist.

    A study of something else is refused.
    """
    plan, folder, storage = spec.plan, spec.folder, spec.storage
    facts = {
        "data": digest,
        "seed": plan.seed,
        "space": plan.space,
        "settings": plan.settings,
        "sampler": plan.sampler,
        "pruning": plan.pruning,
    }
    lock = folder / _LOCKS / "study.lock"
    created = _create(lock.parent)
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space, opened = Space.of(plan.space), None
    grid = space.grid(plan.seed) if plan.sampler == "grid" else None
    median = optuna.pruners.MedianPruner(_REFERENCES, _WARMUP, n_min_trials=_REFERENCES)
    pruner = median if plan.pruning else optuna.pruners.NopPruner()
    try:
        with _acquire(lock):
            opened = _open_storage(folder, storage)
            study = optuna.create_study(
                storage=opened,
                study_name=f"chmcnn search of {spec.title}" if storage else "search",
                pruner=pruner,
                direction="maximize",
                load_if_exists=True,
            )
            _refuse_other(study.user_attrs.get("facts"), facts, folder, "storage" if storage else "folder")
            study.set_user_attr("facts", facts)
        yield Study(study, folder, space, plan.total, grid, plan.seed, plan.settings)
    finally:
        optuna.logging.set_verbosity(before)
        if opened is None and created:  # other processes may hold the lock, or wait for it
            with suppress(OSError):
                lock.unlink()
                lock.parent.rmdir()
        if isinstance(opened, optuna.storages.RDBStorage):
            opened.remove_session()
            opened.engine.dispose()


def _create(folder: Path) -> bool:
    """Create a folder; return False if it exists."""
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    except OSError as error:
        raise explain_unwritable(folder.parent, error) from None
    return True


def _acquire(lock: Path) -> AbstractContextManager[object]:
    try:
        return filelock.FileLock(lock).acquire()
    except OSError as error:
        raise explain_unwritable(lock.parent.parent, error) from None


def explain_unwritable(folder: Path, error: OSError) -> FileError:
    """Return the error for a folder that is not writable."""
    return FileError(f"the folder is not writable: {error.strerror}; choose another one", folder)


def _open_storage(folder: Path, storage: str | None) -> optuna.storages.BaseStorage:
    try:
        if storage is None:
            wait = {"connect_args": {"timeout": 100}}  # seconds to wait for other processes that write
            return optuna.storages.RDBStorage(f"sqlite:///{folder / _DATABASE}", wait)
        if "://" in storage:
            return _open_database(storage)
        return optuna.storages.JournalStorage(JournalFileBackend(storage))
    except ImportError as error:
        driver = getattr(error.__cause__, "name", "a database driver")
        raise ChmcnnError(f"The storage needs {driver}, which is not installed: pip install it.") from None
    except (SQLAlchemyError, OptunaError, OSError, ValueError) as error:
        place = "The storage" if storage else str(folder / _DATABASE)
        reason = str(error).partition("\n")[0].removesuffix(".")
        raise ChmcnnError(f"{place} cannot be opened: {reason}. Choose another one.") from None


def _open_database(url: str) -> optuna.storages.RDBStorage:
    """Open a database of several machines; another one may be creating its tables."""
    for _ in range(_TRIES - 1):
        try:
            return optuna.storages.RDBStorage(url)
        except (IntegrityError, ProgrammingError):
            time.sleep(1)
    return optuna.storages.RDBStorage(url)


def _refuse_other(stored: Mapping[str, Any] | None, wanted: Mapping[str, Any], folder: Path, place: str) -> None:
    plain = json.loads(dumps(wanted))
    differing = [name for name in plain if stored is not None and stored.get(name) != plain[name]]
    if differing:
        raise FileError(
            f"a search with other {' and '.join(differing)}; choose another {place}, or delete this one", folder
        )


def _collect_keys(trials: list[FrozenTrial]) -> set[str]:
    return {_to_key(trial.params) for trial in trials}


def _to_key(point: Mapping[str, Any]) -> str:
    return json.dumps(point, sort_keys=True)

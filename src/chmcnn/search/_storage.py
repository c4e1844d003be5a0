"""Where the trials of a search are: a folder, or a storage that several machines share; how a study in it is opened."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import filelock
import optuna
from optuna.exceptions import OptunaError, StorageInternalError
from optuna.storages.journal import JournalFileBackend
from sqlalchemy.exc import IntegrityError, ProgrammingError, SQLAlchemyError

from chmcnn._io.files import explain_unwritable
from chmcnn._io.strict_json import dumps
from chmcnn.errors import ChmcnnError, FileError
from chmcnn.search._pruning import create_pruner
from chmcnn.search._space import Space
from chmcnn.search._stored_trials import check_trials, explain_damage
from chmcnn.search._study import LOCKS, Study

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from chmcnn.search._trials import SearchSpec

_DATABASE = "study.db"
_TRIES = 5
"""Number of attempts to open a database in which another machine creates tables."""


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
    return (folder / LOCKS).is_dir() or (folder / _DATABASE).is_file()


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
    lock = folder / LOCKS / "study.lock"
    created = _create(lock.parent)
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space, opened = Space.of(plan.space), None
    grid = space.grid(plan.seed) if plan.sampler == "grid" else None
    try:
        with _acquire(lock), explain_damage("The storage" if storage else str(folder / _DATABASE)):
            opened = _open_storage(folder, storage)
            study = optuna.create_study(
                storage=opened,
                study_name=f"chmcnn search of {spec.title}" if storage else "search",
                pruner=create_pruner(pruning=plan.pruning),
                direction="maximize",
                load_if_exists=True,
            )
            _refuse_other(study.user_attrs.get("facts"), facts, folder, "storage" if storage else "folder")
            check_trials(study, space)
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

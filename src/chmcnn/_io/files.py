"""Atomic writing: a file or a folder is complete and on the disk, or does not exist.

A process that is killed leaves a temporary file behind. The next one that writes to the same folder deletes it.
"""

from __future__ import annotations

import errno
import os
import platform
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn.errors import ChmcnnError, FileError

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

_START = ".chmcnn-"
"""First part of the names of temporary files, of every machine."""
_SECONDS_TO_LOCK = 2
"""A younger temporary file may not be locked yet."""
_DAY = 24 * 3600


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise an error for a file that exists or cannot be written, before any work is done for it."""
    if path.is_dir():
        raise ChmcnnError(f"{path} is a folder; choose a file in it, such as {path / 'demo.png'}.")
    if path.exists() and not force:
        raise ChmcnnError(f"{path} already exists; choose another file, or use --force to overwrite it.")
    require_writable(path)


def is_empty_folder(path: Path) -> bool:
    """Whether a folder has nothing in it, so that writing there overwrites nothing."""
    try:
        return not any(path.iterdir())
    except OSError:  # there is none, or it cannot be read
        return False


def require_writable(path: Path) -> None:
    """Raise an error if a file or folder cannot be created, before any work is done for it."""
    folder = follow_link(path).parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=_prefix()):
            pass
    except OSError as error:
        raise _write_error(path, error) from None


def explain_unwritable(folder: Path, error: OSError) -> FileError:
    """Return the error for a folder that is not writable."""
    return FileError(f"the folder is not writable: {error.strerror}; choose another one", folder)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside ``path``, and rename it to ``path`` unless there is an error."""
    try:
        with stage_file(path) as temporary:
            yield temporary
    except OSError as error:
        raise _write_error(path, error) from None


@contextmanager
def stage_file(path: Path) -> Iterator[Path]:
    """Do what `atomic` does, and raise an OSError as it is."""
    target = follow_link(path)
    _prepare(target.parent)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_prefix(), suffix=target.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        with _hold(temporary):
            yield temporary
            temporary.chmod(0o666 & ~_umask())
            _sync(temporary, os.O_RDWR)
            is_new = not target.exists()
            temporary.replace(target)
            if is_new:  # otherwise the name is on the disk already, with the old file or the new one
                sync_folder(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def stage_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside ``path``, and rename it to ``path``, which must not exist."""
    target = follow_link(path)
    _prepare(target.parent)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=_prefix()))
    try:
        with _hold(temporary):
            yield temporary
            temporary.chmod(0o777 & ~_umask())
            temporary.rename(target)
            sync_folder(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def follow_link(path: Path) -> Path:
    """Return what a link points to: to write there does not replace the link."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def is_old(path: Path) -> bool:
    """Whether a file has not been changed for a day, so that no process is writing it."""
    return time.time() - path.lstat().st_mtime > _DAY


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if sys.platform != "win32":  # which cannot open a folder
        _sync(path, os.O_RDONLY)


def _prepare(folder: Path) -> None:
    """Create a folder, or delete what killed processes left in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob(f"{_START}*"):
        with suppress(OSError):
            if not _is_abandoned(path):
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _prefix() -> str:
    """Return the first part of the names of temporary files of this machine."""
    return f"{_START}{platform.node()}-"


@contextmanager
def _hold(temporary: Path) -> Iterator[None]:
    """Lock a temporary file or folder, which shows other processes that this one is alive."""
    if sys.platform == "win32":
        yield
        return
    handle = os.open(temporary, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _is_abandoned(path: Path) -> bool:
    """Whether the process that wrote a temporary file has ended: it is old, or this machine holds no lock on it."""
    if is_old(path):
        return True
    young = time.time() - path.lstat().st_mtime < _SECONDS_TO_LOCK
    if sys.platform == "win32" or young or not path.name.startswith(_prefix()):  # locks may be local to a machine
        return False
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError if another process has the lock
    finally:
        os.close(handle)
    return True


def _sync(path: Path, flags: int) -> None:
    """Wait until a file is on the disk."""
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def describe_write_error(error: OSError) -> str:
    """Return why something cannot be written, and what to do.

    >>> describe_write_error(OSError(errno.ENOSPC, "No space left on device"))
    'cannot be written: No space left on device. Free some space, or choose another place.'
    """
    solution = "Free some space, or choose" if error.errno == errno.ENOSPC else "Choose"
    return f"cannot be written: {error.strerror or error}. {solution} another place."


def _write_error(path: Path, error: OSError) -> ChmcnnError:
    return ChmcnnError(f"{path} {describe_write_error(error)}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

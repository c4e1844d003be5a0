"""Atomic writing: a file is complete, or does not exist."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Iterator


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise an error for a file that exists, before any work is done for it."""
    if path.is_dir():
        raise ChmcnnError(f"{path} is a folder; choose a file in it, such as {path / 'demo.png'}.")
    if path.exists() and not force:
        raise ChmcnnError(f"{path} already exists; choose another file, or use --force to overwrite it.")


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside ``path``, and rename it to ``path`` unless there is an error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    except OSError as error:
        raise _write_error(path, error) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise _write_error(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def _write_error(path: Path, error: OSError) -> ChmcnnError:
    solution = "Free some space, or choose" if error.errno == errno.ENOSPC else "Choose"
    return ChmcnnError(f"{path} cannot be written: {error.strerror or error}. {solution} a file in another folder.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

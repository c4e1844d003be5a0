"""Writing files so that nothing is ever half-written."""

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
    """Refuse to write over a file before any work is done for it."""
    if path.is_dir():
        raise ChmcnnError(f"{path} is a folder; name a file in it, such as {path / 'demo.png'}.")
    if path.exists() and not force:
        raise ChmcnnError(f"{path} exists already; name another file, or use --force to write over it.")


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Give a temporary file beside ``path`` to write to, and rename it to ``path`` if all goes well."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    except OSError as error:
        raise _cannot_be_written(path, error) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise _cannot_be_written(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def _cannot_be_written(path: Path, error: OSError) -> ChmcnnError:
    way_out = "Make room, or name" if error.errno == errno.ENOSPC else "Name"
    return ChmcnnError(f"{path} cannot be written: {error.strerror or error}. {way_out} a file in another folder.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

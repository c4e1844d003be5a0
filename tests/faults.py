"""Let system calls that change the disk fail, one after the other: the process ends, or the call has an error.

Python announces most of these calls to audit hooks, whoever makes them. A hook stays for the life of a process, so
there is one, which does nothing outside of `Disk.failing`, and none in processes that let nothing fail.
"""

import errno
import functools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

FAILURES = {"crash": 0, "full": errno.ENOSPC, "broken": errno.EIO, "no rights": errno.EACCES}
_CALLS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "shutil.rmtree"}
_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Crash(BaseException):
    """The process ends here."""


class Disk:
    """Counts the calls that change a folder, and lets one of them fail."""

    current: "Disk | None" = None

    def __init__(self, folder: Path, failure: str = "", at: int = -1) -> None:
        self.folder, self.failure, self.at = folder.resolve(), failure, at
        self.calls = 0

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Let one call fail; after a crash, all."""
        sync, write_bytes, write_text = os.fsync, Path.write_bytes, Path.write_text

        def fail_to_sync(handle: int) -> None:
            self.step()
            sync(handle)

        def fail_to_write_bytes(path: Path, content: bytes) -> int:
            write_bytes(path, content[: len(content) // 2])
            if self.has(path):
                self.step()
            return write_bytes(path, content)

        def fail_to_write_text(path: Path, content: str, **options: Any) -> int:
            write_text(path, content[: len(content) // 2], **options)
            if self.has(path):
                self.step()
            return write_text(path, content, **options)

        with (
            mock.patch.object(os, "fsync", fail_to_sync),
            mock.patch.object(Path, "write_bytes", fail_to_write_bytes),
            mock.patch.object(Path, "write_text", fail_to_write_text),
        ):
            _listen()
            Disk.current = self
            try:
                yield
            finally:
                Disk.current = None

    def step(self) -> None:
        """Count a call, and let it fail if it is its turn."""
        self.calls += 1
        if self.calls - 1 == self.at or (self.failure == "crash" and self.calls > self.at >= 0):
            if self.failure == "crash":
                raise Crash
            code = FAILURES[self.failure]
            raise OSError(code, os.strerror(code))

    def has(self, path: Any) -> bool:
        """Whether a path is inside of the folder."""
        return isinstance(path, str | os.PathLike) and Path(path).absolute().is_relative_to(self.folder)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    disk = Disk.current
    if disk is None or (event != "open" and event not in _CALLS):
        return
    if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _CHANGES):
        return
    inside_rmtree = event in {"os.remove", "os.rmdir"} and isinstance(arguments[-1], int) and arguments[-1] >= 0
    if disk.has(arguments[0]) or inside_rmtree:
        disk.step()


@functools.cache
def _listen() -> None:
    sys.addaudithook(_hook)

"""Text files, plain or gzip-compressed, line by line; errors name the line and column."""

from __future__ import annotations

import gzip
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from chmcnn.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def open_bytes(path: Path, error: type[FileError] = FileError) -> Iterator[IO[bytes]]:
    """Open a file, plain or gzip-compressed. What goes wrong while it is read is an error of the file."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            yield file  # type: ignore[misc]  # a GzipFile has all that a file has
    except (gzip.BadGzipFile, zlib.error, EOFError) as problem:
        raise error(f"the file is not a complete gzip file: {problem}", path) from None
    except OSError as problem:
        raise error(f"the file cannot be read: {problem.strerror or problem}", path) from None


def lines(path: Path, error: type[FileError] = FileError) -> Iterator[str]:
    """Yield the lines of a file of UTF-8 text, with their line ends."""
    number = 0
    try:
        with open_bytes(path, error) as file:
            for number, raw in enumerate(file, start=1):
                yield decode(raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw, path, error, number)
    except error as problem:
        raise problem if problem.line or not number else problem.at(path, number + 1)  # noqa: B904 -- the same error


def decode(raw: bytes, path: Path, error: type[FileError], first_line: int = 1) -> str:
    """Decode UTF-8 text without zero bytes; ``first_line`` is the number of its first line."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as problem:
        line, column = _place(raw, problem.start, first_line)
        raise error("the file is not text in UTF-8; save it in that encoding", path, line, column) from None
    if "\0" in text:
        line, column = _place(raw, raw.index(0), first_line)
        raise error("the file is not text: it contains a zero byte", path, line, column)
    return text


def _place(raw: bytes, position: int, first_line: int) -> tuple[int, int]:
    before = raw[:position]
    return first_line + before.count(b"\n"), position - before.rfind(b"\n")


def ending(path: Path) -> str:
    """Return the ending of a file name in lower case, without that of gzip.

    >>> ending(Path("annotations.GAF.gz"))
    '.gaf'
    """
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()

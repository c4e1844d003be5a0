"""Text files, plain or packed by gzip, line by line, with the place of whatever is not text."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator


def lines(path: Path, error: type[FileError] = FileError) -> Iterator[str]:
    """Lines of a file that must be text in UTF-8, each with its end."""
    number = 0
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                yield decode(raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw, path, error, number)
    except (gzip.BadGzipFile, zlib.error, EOFError) as problem:
        raise error(f"the file is not a complete gzip file: {problem}", path, number + 1) from None
    except OSError as problem:
        raise error(f"the file cannot be read: {problem.strerror or problem}", path) from None


def decode(raw: bytes, path: Path, error: type[FileError], first_line: int = 1) -> str:
    """Decode bytes that must be text in UTF-8 without zeros; ``first_line`` is the line they start with."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as problem:
        line, column = _place(raw, problem.start, first_line)
        raise error("the file is not text in UTF-8", path, line, column) from None
    if "\0" in text:
        line, column = _place(raw, raw.index(0), first_line)
        raise error("the file is not text: it has a zero byte", path, line, column)
    return text


def _place(raw: bytes, at: int, first_line: int) -> tuple[int, int]:
    before = raw[:at]
    return first_line + before.count(b"\n"), at - before.rfind(b"\n")


def ending(path: Path) -> str:
    """The kind of a file by its name: its last ending, in lower case, without that of gzip.

    >>> ending(Path("annotations.GAF.gz"))
    '.gaf'
    """
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()

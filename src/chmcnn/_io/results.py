"""Results in files of JSON that tell if they were changed."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, TypeVar

from chmcnn._io import strict_json
from chmcnn._io.files import atomic
from chmcnn.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_Made = TypeVar("_Made")
_WAY_OUT = "remove it, and the command that wrote it runs that part again"
_OTHER = (ValueError, KeyError, TypeError, AttributeError)
"""What comes of a file that has something else in it."""


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a result with its checksum, all at once.

    >>> import tempfile; from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "mine.json"), {"figure": 0.5})
    ...     read(Path(folder, "mine.json"))
    {'figure': 0.5}
    """
    plain = json.loads(strict_json.dumps(content))
    with atomic(path) as temporary:
        temporary.write_text(strict_json.dumps(plain | {"checksum": checksum(plain)}), encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """Read a result, and refuse one that was changed since it was written."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        written = content.pop("checksum")
    except _OTHER:
        raise _no_result(path) from None
    except OSError as error:
        raise FileError(f"it cannot be read: {error.strerror}", path) from None
    if written != checksum(content):
        raise FileError(f"it was changed after it was written: its content does not fit its checksum; {_WAY_OUT}", path)
    return content


def made(path: Path, maker: Callable[[dict[str, Any]], _Made]) -> _Made:
    """Read a result and make a value of it; refuse the file of another version of the code, which has other fields."""
    content = read(path)
    try:
        return maker(content)
    except _OTHER:
        raise _no_result(path) from None


def checksum(content: Mapping[str, Any]) -> str:
    """A digest that is the same for the same content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _no_result(path: Path) -> FileError:
    return FileError(f"it is not the file of a result; {_WAY_OUT}", path)

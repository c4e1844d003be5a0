"""Results in JSON files with a checksum, which shows later changes."""

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

_Result = TypeVar("_Result")
_SOLUTION = "delete it, and run the command that wrote it again"
UNEXPECTED = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""Errors raised by a file with unexpected content."""


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a result with its checksum, atomically.

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
    """Read a result; raise an error if it was changed after it was written."""
    try:
        content: dict[str, Any] = strict_json.loads(path.read_text(encoding="utf-8"))
        is_unchanged = content.pop("checksum") == checksum(content)
    except UNEXPECTED:
        raise not_a_result(path) from None
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror}", path) from None
    if not is_unchanged:
        raise FileError(f"the file was changed after it was written: its checksum does not match; {_SOLUTION}", path)
    return content


def load(path: Path, parse: Callable[[dict[str, Any]], _Result]) -> _Result:
    """Read a result and parse it; raise an error for a file with other fields, of another version of the code."""
    content = read(path)
    try:
        return parse(content)
    except UNEXPECTED:
        raise not_a_result(path) from None


def checksum(content: Mapping[str, Any]) -> str:
    """Return a digest of the content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def not_a_result(path: Path) -> FileError:
    """Return the error for a file with other content than a result has."""
    return FileError(f"not a result file; {_SOLUTION}", path)

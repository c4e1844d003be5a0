"""The files of a model folder: which are ours, and how a model is written over another one.

``model.json`` is replaced last, and has the checksums of the other files, which have names of their own in a folder
that has a model already. So the folder has the old model or the new one at every moment, whatever happens, and files of
the user stay.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from chmcnn._io import strict_json
from chmcnn._io.files import (
    describe_write_error,
    follow_link,
    is_empty_folder,
    is_old,
    stage_file,
    stage_folder,
    sync_folder,
)
from chmcnn.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FACTS, TENSORS, TRANSFORMER = "model.json", "model.safetensors", "preprocessing.skops"
CLASS_FACTS = "class_facts.json"
SIGNATURE = "model.json.sig"
DIGESTS = {TENSORS: "sha256", TRANSFORMER: "sha256 of the transformer", CLASS_FACTS: "sha256 of the class facts"}
"""The names of files, and of their checksums in the facts."""
_OWN = re.compile(
    r"model(-[0-9a-f]{12})?\.safetensors|preprocessing(-[0-9a-f]{12})?\.skops|class_facts(-[0-9a-f]{12})?\.json"
)


def refuse_other(path: Path, *, force: bool) -> None:
    """Raise an error for a folder that must not be overwritten; an empty one may be."""
    if is_empty_folder(path):
        return
    if path.exists() and not force:
        raise ModelError("already exists; choose another folder, or use force=True to overwrite it", path)
    if path.exists() and not (path / FACTS).is_file():
        raise ModelError("not a model folder, so it is not overwritten; choose another folder", path)


def write_files(path: Path, facts: bytes, files: Mapping[str, bytes], extra_files: Mapping[str, bytes]) -> None:
    """Write a new folder, or into an empty one, or over the model in it."""
    folder = follow_link(path)
    try:
        if folder.exists():
            _write_over(folder, facts, files, extra_files)
        else:
            with stage_folder(folder) as temporary:
                _write_all(temporary, facts, {**files, **extra_files})
    except OSError as error:
        raise ModelError(describe_write_error(error), path) from None


def read_file(path: Path, name: str, facts: Mapping[str, Any]) -> bytes:
    """Read a file of a model, and compare it with its checksum."""
    digest = str(facts.get(DIGESTS[name]))
    file = path / _find(path, name, digest)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error.strerror}", file) from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise ModelError(f"the file does not match {FACTS}: it is incomplete or was changed", file)
    return content


def _write_over(folder: Path, facts: bytes, files: Mapping[str, bytes], extra_files: Mapping[str, bytes]) -> None:
    named = {_name_by_digest(name, hashlib.sha256(content).hexdigest()): content for name, content in files.items()}
    both = _list_used(folder) | set(named)
    try:
        _write_all(folder, facts, {**named, **extra_files})
        (folder / SIGNATURE).unlink(missing_ok=True)  # of the old model
    finally:  # also after an error: of the old model and the new one, one is in use
        with suppress(OSError):
            old = {path.name for path in folder.iterdir() if _OWN.fullmatch(path.name) and is_old(path)}
            sync_folder(folder)
            for name in (both | old) - _list_used(folder):
                (folder / name).unlink(missing_ok=True)


def _write_all(folder: Path, facts: bytes, files: Mapping[str, bytes]) -> None:
    """Write all files before any gets its name; the facts get theirs last."""
    with ExitStack() as stack:
        for name, content in {FACTS: facts, **files}.items():
            stack.enter_context(stage_file(folder / name)).write_bytes(content)


def _list_used(folder: Path) -> set[str]:
    """Return the names of the files that the facts in a folder belong to; none if they cannot be read."""
    try:
        facts = strict_json.loads((folder / FACTS).read_bytes())
        return {_find(folder, name, str(facts[digest])) for name, digest in DIGESTS.items() if digest in facts}
    except (OSError, ValueError, TypeError, LookupError):
        return set()


def _find(folder: Path, name: str, digest: str) -> str:
    """Return the name that a file has in a folder, whose facts may be those of a stranger."""
    own = _name_by_digest(name, digest)
    return own if _OWN.fullmatch(own) and (folder / own).is_file() else name


def _name_by_digest(name: str, digest: str) -> str:
    """Return the name of a file in a folder that had a model already.

    >>> _name_by_digest("model.safetensors", "0123456789abcdef")
    'model-0123456789ab.safetensors'
    """
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}-{digest[:12]}{dot}{suffix}"

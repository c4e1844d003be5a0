"""The benchmark's files: finding, downloading and verifying them."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn._io.files import atomic
from chmcnn.datasets.catalogue import catalogue
from chmcnn.errors import ChmcnnError, DatasetError, DownloadError

if TYPE_CHECKING:
    from rich.progress import Progress

    from chmcnn.datasets.catalogue import File

DATA = "CHMCNN_DATA"
"""Environment variable: folder with the files, such as a clone of the authors' repository."""
CACHE = "CHMCNN_CACHE"
"""Environment variable: folder of downloads; by default the user's cache folder."""
MIRROR = "CHMCNN_MIRROR"
"""Environment variable: address to download from instead of the authors' repository. Files are verified anyway."""

_HOUR = 3600
_TIMEOUT = 30
"""Seconds to wait for a server that does not answer."""


def blob_id(content: bytes) -> str:
    """Return the git blob id of a file with that content.

    >>> blob_id(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def is_verified(path: Path, file: File) -> bool:
    """Whether a file on disk is identical to that of the authors."""
    return path.is_file() and blob_id(path.read_bytes()) == file.blob


def cache_folder() -> Path:
    """Return the folder of downloads."""
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE]).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("chmcnn", appauthor=False)


def address(file: File) -> str:
    """Return the URL of a file."""
    source = catalogue()
    raw = source.repository.replace("https://github.com", "https://raw.githubusercontent.com")
    return f"{(os.environ.get(MIRROR) or f'{raw}/{source.commit}').rstrip('/')}/{file.path}"


def find(file: File, data_dir: Path | None = None) -> Path | None:
    """Return the path of a file in ``data_dir`` or else ``CHMCNN_DATA``, then in the cache, or None."""
    folder = data_dir or (Path(os.environ[DATA]).expanduser() if os.environ.get(DATA) else None)
    if folder and not folder.is_dir():
        raise DatasetError(f"The data folder {folder} does not exist; choose an existing one.")
    for candidate in _paths_in(file, folder) if folder else ():
        if is_verified(candidate, file):
            return candidate
        if candidate.is_file():
            raise DownloadError(
                f"{candidate} is not the file of the benchmark: its git blob id is {blob_id(candidate.read_bytes())}, "
                f"but that of {file.name} is {file.blob}. Delete it to download the right one; or name it as the file "
                "of its part, and everything computed from it is marked as not verified."
            )
    cached = cache_folder() / file.path
    return cached if is_verified(cached, file) else None


def fetch(file: File, progress: Progress | None = None) -> Path:
    """Download a file into the cache, if it is complete and verified."""
    target = cache_folder() / file.path
    _delete_old_partial_files(target)
    try:
        with atomic(target) as temporary:
            _download(file, temporary, progress)
            _refuse_altered(temporary, file)
    except DownloadError:
        raise
    except (ChmcnnError, OSError) as error:
        raise DownloadError(f"{error} Set {CACHE} to a writable folder.") from None
    return target


def _download(file: File, target: Path, progress: Progress | None) -> None:
    import requests

    task = progress.add_task(file.name, total=file.bytes) if progress else None
    try:
        with requests.get(address(file), stream=True, timeout=_TIMEOUT) as response, target.open("wb") as out:
            response.raise_for_status()
            for chunk in response.iter_content(chunk_size=1 << 16):
                out.write(chunk)
                if progress and task is not None:
                    progress.advance(task, len(chunk))
    except requests.RequestException as error:
        raise DownloadError(
            f"{file.name} could not be downloaded from {address(file)}: {_reason(error)}. "
            f"Without a network, {_manual_download(file)}"
        ) from None


def _refuse_altered(path: Path, file: File) -> None:
    if not is_verified(path, file):
        raise DownloadError(
            f"{address(file)} did not send {file.name}, but {path.stat().st_size:,} bytes with the git blob id "
            f"{blob_id(path.read_bytes())}; expected {file.blob}. Nothing was saved. Try again, or "
            f"{_manual_download(file)}"
        )


def _delete_old_partial_files(target: Path) -> None:
    """Delete the partial files of interrupted downloads; a running download has a newer one."""
    for partial in target.parent.glob(f".{target.stem}-*"):
        if time.time() - partial.stat().st_mtime > _HOUR:
            partial.unlink(missing_ok=True)


def _paths_in(file: File, folder: Path) -> tuple[Path, Path]:
    """Return the possible paths in a copy of the authors' repository, or of its data folder."""
    return folder / file.path, folder / file.path.removeprefix("HMC_data/")


def _reason(error: Exception) -> str:
    """Return the message of the innermost of nested errors."""
    inner = getattr(error, "reason", None) or next((part for part in error.args if isinstance(part, Exception)), None)
    return _reason(inner) if isinstance(inner, Exception) else str(error).rstrip(".")


def _manual_download(file: File) -> str:
    return (
        f"get it elsewhere and put it at {cache_folder() / file.path}, or set {DATA} to a folder that has "
        f"{file.path.removeprefix('HMC_data/')}."
    )

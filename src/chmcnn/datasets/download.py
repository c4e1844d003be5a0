"""The benchmark's files: finding, downloading and verifying them."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING

from chmcnn._io.files import atomic
from chmcnn._wording import make_printable
from chmcnn.datasets.catalogue import catalogue
from chmcnn.errors import ChmcnnError, DatasetError, DownloadError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress
    from urllib3 import BaseHTTPResponse

    from chmcnn.datasets.catalogue import File

DATA = "CHMCNN_DATA"
"""Environment variable: folder with the files, such as a clone of the authors' repository."""
CACHE = "CHMCNN_CACHE"
"""Environment variable: folder of downloads; by default the user's cache folder."""
MIRROR = "CHMCNN_MIRROR"
"""Environment variable: address to download from instead of the authors' repository. Files are verified anyway."""

_TIMEOUT = 30
"""Seconds to wait for a server that does not answer."""
_LEAST_BYTES_A_SECOND = 1024
"""A download that is slower on the whole, after the first `_TIMEOUT` seconds, fails."""
_MOST_BYTES = 1 << 28
"""Largest size of a file whose size is not known."""
_CHUNK = 1 << 16
_LONGEST_REASON = 300
"""Characters of what a server or a library says; a server may send a header of 65,536 bytes."""


def blob_id(content: bytes) -> str:
    """Return the git blob id of a file with that content.

    >>> blob_id(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def is_verified(path: Path, file: File) -> bool:
    """Whether a file on disk is identical to that of the authors."""
    if not path.is_file() or path.stat().st_size != (file.bytes or path.stat().st_size):
        return False
    return blob_id(path.read_bytes()) == file.blob


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
    """Download a file, but no more bytes than it has, and in a limited time."""
    import requests
    from urllib3.exceptions import HTTPError

    task = progress.add_task(file.name, total=file.bytes) if progress else None

    def advance(size: int) -> None:
        if progress and task is not None:
            progress.advance(task, size)

    def receive(out: IO[bytes]) -> None:
        headers = {"Accept-Encoding": "identity"}
        with requests.get(address(file), stream=True, timeout=_TIMEOUT, headers=headers) as response:
            response.raise_for_status()
            _copy(response.raw, out, file, advance)

    seconds = _TIMEOUT + (file.bytes or _MOST_BYTES) / _LEAST_BYTES_A_SECOND
    try:
        with target.open("wb") as out:  # if it is closed before its time, the thread that writes to it ends
            _run_within(seconds, partial(receive, out))
    except DownloadError:
        raise
    except (requests.RequestException, HTTPError, ValueError, TimeoutError) as error:  # a ValueError of a redirect
        slow = f"it is not complete after {seconds:.0f} seconds"
        raise DownloadError(
            f"{file.name} could not be downloaded from {address(file)}: "
            f"{slow if isinstance(error, TimeoutError) else _reason(error)}. Without a network, "
            f"{_manual_download(file)}"
        ) from None


def _copy(response: BaseHTTPResponse, out: IO[bytes], file: File, advance: Callable[[int], None]) -> None:
    """Copy the bytes of a response as they are sent, without unpacking them."""
    most = _MOST_BYTES if file.bytes is None else file.bytes
    while chunk := response.read(_CHUNK, decode_content=False):
        most -= len(chunk)
        if most < 0:
            raise DownloadError(
                f"{address(file)} sends more than the {file.bytes or _MOST_BYTES:,} bytes of {file.name}, so it is "
                f"another file. Nothing was saved. Try again, or {_manual_download(file)}"
            )
        out.write(chunk)
        advance(len(chunk))


def _run_within(seconds: float, function: Callable[[], None]) -> None:
    """Run a function in a thread, and raise a `TimeoutError` if it takes longer: a server may be slow at every step."""
    outcome: Future[None] = Future()

    def run() -> None:
        try:
            function()
            outcome.set_result(None)
        except BaseException as error:  # noqa: BLE001 -- it is raised again where the result is waited for
            outcome.set_exception(error)

    Thread(target=run, daemon=True).start()
    outcome.result(seconds)


def _refuse_altered(path: Path, file: File) -> None:
    if not is_verified(path, file):
        raise DownloadError(
            f"{address(file)} did not send {file.name}, but {path.stat().st_size:,} bytes with the git blob id "
            f"{blob_id(path.read_bytes())}; expected {file.blob}. Nothing was saved. Try again, or "
            f"{_manual_download(file)}"
        )


def _paths_in(file: File, folder: Path) -> tuple[Path, Path]:
    """Return the possible paths in a copy of the authors' repository, or of its data folder."""
    return folder / file.path, folder / file.path.removeprefix("HMC_data/")


def _reason(error: Exception) -> str:
    """Return the message of the innermost of nested errors, which may have bytes from the server."""
    inner = getattr(error, "reason", None) or next((part for part in error.args if isinstance(part, Exception)), None)
    if isinstance(inner, Exception):
        return _reason(inner)
    told = make_printable(" ".join(str(error).split()))
    return (told if len(told) <= _LONGEST_REASON else f"{told[:_LONGEST_REASON]}...").rstrip(".")


def _manual_download(file: File) -> str:
    return (
        f"get it elsewhere and put it at {cache_folder() / file.path}, or set {DATA} to a folder that has "
        f"{file.path.removeprefix('HMC_data/')}."
    )

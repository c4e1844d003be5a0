import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.datasets.server import serve

from chmcnn import DownloadError
from chmcnn._io import files
from chmcnn.datasets import download
from chmcnn.datasets.catalogue import File

CONTENT = b"@RELATION small\n" * 5000
FILE = File("HMC_data/others/Small.arff", download.blob_id(CONTENT), len(CONTENT), 3)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHMCNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CHMCNN_DATA", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder that the server has."""
    (tmp_path / "home" / FILE.path).parent.mkdir(parents=True)
    (tmp_path / "home" / FILE.path).write_bytes(CONTENT)
    return tmp_path / "home"


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_ids_are_those_of_git(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    git = shutil.which("git") or pytest.skip("git is not installed")
    done = subprocess.run([git, "hash-object", "file"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert download.blob_id(CONTENT) == done.stdout.strip()


def test_a_good_download_reaches_the_cache(home: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(home, "honest") as (address, asked):
        monkeypatch.setenv("CHMCNN_MIRROR", address)
        assert download.find(FILE) is None
        path = download.fetch(FILE)
    assert asked == [f"/{FILE.path}"]
    assert path.read_bytes() == CONTENT
    assert download.find(FILE) == path
    assert files_in(cache) == [FILE.path]


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("cut", "could not be downloaded from http://127.0.0.1"),
        ("wrong bytes", "did not send Small.arff, but 80,000 bytes"),
        ("404", "404 Client Error: Not Found"),
        ("endless", r"sends more than the 80,000 bytes of Small\.arff, so it is another file\. Nothing was saved"),
        ("bomb", "did not send Small.arff, but"),
        ("slow", r"could not be downloaded from http://127.*: it is not complete after 108 seconds"),
        ("hostile reason", r"500 Server Error: \\x1b\[31mred\\x9b for url"),
        ("redirect to http://[", "could not be downloaded from http://127.*: Invalid IPv6 URL"),
        ("redirect to http://a..b/", "could not be downloaded from http://127.*: Failed to parse"),
        ("redirect to file:///etc/passwd", "could not be downloaded from http://127.*: No connection adapters"),
    ],
)
def test_a_bad_download_never_reaches_the_cache(
    home: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, way: str, told: str
) -> None:
    if way == "slow":
        run_within = download._run_within
        monkeypatch.setattr(download, "_run_within", lambda _, function: run_within(0.4, function))
    with serve(home, way) as (address, _):
        monkeypatch.setenv("CHMCNN_MIRROR", address)
        with pytest.raises(DownloadError, match=told) as caught:
            download.fetch(FILE)
    assert str(cache / FILE.path) in str(caught.value)
    assert files_in(cache) == []


def test_a_bad_download_leaves_what_was_there(home: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / FILE.path).parent.mkdir(parents=True)
    (cache / FILE.path).write_bytes(b"altered")
    assert download.find(FILE) is None
    with serve(home, "cut") as (address, _):
        monkeypatch.setenv("CHMCNN_MIRROR", address)
        with pytest.raises(DownloadError):
            download.fetch(FILE)
    assert files_in(cache) == [FILE.path]
    with serve(home, "honest") as (address, _):
        monkeypatch.setenv("CHMCNN_MIRROR", address)
        assert download.fetch(FILE).read_bytes() == CONTENT  # an altered file is replaced


def test_without_a_network_the_error_says_what_from_where_and_where_to(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHMCNN_MIRROR", "http://127.0.0.1:9")
    with pytest.raises(DownloadError) as caught:
        download.fetch(FILE)
    message = str(caught.value)
    assert message.startswith("Small.arff could not be downloaded from http://127.0.0.1:9/HMC_data/")
    assert "Connection refused" in message
    assert f"put it at {cache / FILE.path}, or set CHMCNN_DATA to a folder that has others/Small.arff" in message


def test_the_address_names_the_commit() -> None:
    assert download.address(FILE) == (
        "https://raw.githubusercontent.com/EGiunchiglia/C-HMCNN/e887855ab4b3b8f22e4fafc80a0a33c1d1ac0041/"
        "HMC_data/others/Small.arff"
    )


@pytest.mark.parametrize("inside", ["", "HMC_data"])
def test_a_copy_of_the_repository_or_of_its_data_will_do(
    home: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    assert download.find(FILE, home / inside) == home / FILE.path
    monkeypatch.setenv("CHMCNN_DATA", str(home / inside))
    assert download.find(FILE) == home / FILE.path


def test_an_altered_file_in_a_folder_of_data_is_told(home: Path) -> None:
    (home / FILE.path).write_bytes(b"altered")
    with pytest.raises(DownloadError, match=r"Small\.arff is not the file of the benchmark: its git blob id is"):
        download.find(FILE, home)


@pytest.mark.parametrize("place", ["a file", "/proc/self/nowhere"])
def test_a_cache_that_cannot_be_written_to_is_told(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    if place.startswith("/proc") and not os.access("/proc/self", os.R_OK):
        pytest.skip("needs a folder that nobody can write to")
    (tmp_path / "a file").write_text("in the way")
    monkeypatch.setenv("CHMCNN_CACHE", str(tmp_path / place))
    with serve(home, "honest") as (address, asked):
        monkeypatch.setenv("CHMCNN_MIRROR", address)
        with pytest.raises(DownloadError, match="Set CHMCNN_CACHE to a writable folder"):
            download.fetch(FILE)
    assert asked == []


def test_the_cache_is_the_users_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHMCNN_CACHE")
    assert download.cache_folder().name == "chmcnn"


def test_what_a_killed_download_left_is_deleted_by_the_next_one(
    home: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = (cache / FILE.path).with_name(f"{files._prefix()}x.arff")
    left.parent.mkdir(parents=True)
    left.write_text("half of it")
    os.utime(left, (0, 0))
    with serve(home, "honest") as (address, _):
        monkeypatch.setenv("CHMCNN_MIRROR", address)
        download.fetch(FILE)
    assert files_in(cache) == [FILE.path]


def test_a_file_of_unknown_size_is_bounded_too(home: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_MOST_BYTES", 1 << 18)
    with serve(home, "endless") as (address, _):
        monkeypatch.setenv("CHMCNN_MIRROR", address)
        with pytest.raises(DownloadError, match=r"sends more than the 262,144 bytes of Small\.arff"):
            download.fetch(replace(FILE, bytes=None))
    assert files_in(cache) == []

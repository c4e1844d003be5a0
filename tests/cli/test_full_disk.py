"""A disk that is full in the middle of a file: told with its name, and nothing is left behind."""

import errno
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.cli.inside import run

pytestmark = pytest.mark.usefixtures("without_pictures")
OPTIONS = ("--id-column", "name", "--categorical", "zone", "--epochs", "1", "--width", "8", "--quiet", "-o", "mine")


def train(folder: Path, place: Path) -> subprocess.CompletedProcess[str]:
    """Train on a small table."""
    return run("train", folder / "my.csv", "--hierarchy", folder / "edges.csv", *OPTIONS, cwd=place)


def fill_the_disk(monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    """Let files with such a path take a few bytes, and no more."""
    write = Path.write_bytes

    def refuse(path: Path, content: bytes) -> int:
        if not path.match(pattern):
            return write(path, content)
        write(path, content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", refuse)


@pytest.mark.parametrize("file", [".chmcnn-*/*.safetensors", "*.html"])
def test_a_model_is_not_there_in_part(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    fill_the_disk(monkeypatch, file)
    done = train(folder, tmp_path)
    assert done.returncode == 2
    told = "mine: cannot be written: No space left on device. Free some space, or choose another place."
    assert done.stderr == f"chmcnn: {told}\n"
    assert [path.name for path in tmp_path.iterdir()] == [".mine.training"], "what the same command goes on from"
    monkeypatch.undo()
    assert train(folder, tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_first_checkpoint(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_the_disk(monkeypatch, ".mine.training/*.safetensors")
    done = train(folder, tmp_path)
    assert done.returncode == 2
    assert ".mine.training/checkpoint.safetensors cannot be written: No space left on device. Free" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_predictions(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: pd.DataFrame, path: Path, **_options: Any) -> None:
        path.write_text("name,an")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", refuse)
    done = run("predict", "model", "new.csv", "-o", tmp_path / "scores.csv", cwd=folder)
    assert done.returncode == 2
    assert f"{tmp_path / 'scores.csv'} cannot be written: No space left on device. Free some space" in done.stderr
    assert list(tmp_path.iterdir()) == []

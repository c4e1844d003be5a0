import os
from pathlib import Path

import matplotlib.image
import pytest
from tests.cli.inside import run


def test_it_prints_what_was_delegated_and_draws_it(tmp_path: Path) -> None:
    done = run("rectangles", "--epochs", "400", "-o", "new/picture.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "B delegated to A" in done.stdout
    assert [word for word in ("outside", "half-way", "inside") if word in done.stdout] == [
        "outside",
        "half-way",
        "inside",
    ]
    assert "Training" in done.stderr
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["picture.png"]
    assert matplotlib.image.imread(tmp_path / "new" / "picture.png").shape[0] > 800


@pytest.mark.parametrize(("ending", "start"), [("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_other_kinds_of_pictures(tmp_path: Path, ending: str, start: bytes) -> None:
    done = run("rectangles", "--epochs", "1", "--quiet", "-o", f"picture.{ending}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert (tmp_path / f"picture.{ending}").read_bytes().startswith(start)


def test_help_shows_examples(tmp_path: Path) -> None:
    assert "chmcnn rectangles --output boundaries.png" in run("rectangles", "--help", cwd=tmp_path).stdout


def test_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout.startswith("chmcnn ")


def test_a_picture_that_exists_is_kept_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "rectangles.png").write_text("mine")
    done = run("rectangles", "--epochs", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "rectangles.png already exists; choose another file, or use --force" in done.stderr
    assert (tmp_path / "rectangles.png").read_text() == "mine"
    assert run("rectangles", "--epochs", "1", "--force", "--quiet", cwd=tmp_path).returncode == 0
    assert (tmp_path / "rectangles.png").read_bytes().startswith(b"\x89PNG")


def test_a_folder_is_no_place_for_a_picture(tmp_path: Path) -> None:
    done = run("rectangles", "--output", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "is a folder; choose a file in it" in done.stderr


@pytest.mark.skipif(not os.access("/proc/self", os.R_OK), reason="needs a folder that nobody can write to")
def test_a_folder_that_cannot_be_written_to_is_told_before_the_training(tmp_path: Path) -> None:
    done = run("rectangles", "--output", "/proc/self/rectangles.png", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("chmcnn: ")
    assert "Training" not in done.stderr


def test_an_unknown_kind_of_picture_is_told_before_the_training(tmp_path: Path) -> None:
    done = run("rectangles", "--output", "rectangles.xyz", cwd=tmp_path)
    assert done.returncode == 2
    assert "'.xyz'" in done.stderr
    assert "Training" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_bad_options_are_refused(tmp_path: Path) -> None:
    done = run("rectangles", "--epochs", "0", cwd=tmp_path)
    assert done.returncode == 2
    assert "--epochs" in done.stderr

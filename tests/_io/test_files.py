import errno
import os
import stat
import time
from pathlib import Path

import pytest

from chmcnn._io import files
from chmcnn._io.files import atomic, require_writable
from chmcnn.errors import ChmcnnError


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "new" / "result.txt"
    with pytest.raises(KeyboardInterrupt), atomic(file) as temporary:
        temporary.write_text("half of it")
        raise KeyboardInterrupt
    assert list(file.parent.iterdir()) == []
    with atomic(file) as temporary:
        temporary.write_text("all of it")
    assert file.read_text() == "all of it"
    assert [file.name for file in file.parent.iterdir()] == ["result.txt"]


def test_an_old_file_stays_until_the_new_one_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "result.txt"
    file.write_text("old")
    with pytest.raises(ValueError, match="broken"), atomic(file) as temporary:
        temporary.write_text("new")
        raise ValueError("broken")
    assert file.read_text() == "old"


def test_the_file_has_the_usual_rights(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with atomic(tmp_path / "ours") as temporary:
        temporary.touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_full_disk_is_told_with_the_file_and_the_way_out(tmp_path: Path) -> None:
    told = "result.txt cannot be written: No space left on device. Free some space, or choose another place."
    with pytest.raises(ChmcnnError, match=told), atomic(tmp_path / "result.txt") as temporary:
        temporary.write_text("half of it")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_followed_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "result.txt").symlink_to(tmp_path / "far" / "real.txt")
    for content in ("first", "second"):
        with atomic(tmp_path / "result.txt") as temporary:
            temporary.write_text(content)
        assert (tmp_path / "result.txt").is_symlink()
        assert (tmp_path / "far" / "real.txt").read_text() == content
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["real.txt"]


def test_a_file_is_on_the_disk_before_it_gets_its_name_and_a_new_name_is_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    replace = Path.replace

    def sync(handle: int) -> None:
        calls.append("sync folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "sync file")

    def rename(path: Path, target: Path) -> Path:
        calls.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", rename)
    for _ in range(2):
        with atomic(tmp_path / "result.txt") as temporary:
            temporary.write_text("whole")
    assert calls == ["sync file", "rename", "sync folder", "sync file", "rename"]


def test_what_a_killed_process_left_is_deleted_and_what_a_running_one_writes_is_not(tmp_path: Path) -> None:
    minute_ago = time.time() - 60
    left = [tmp_path / f"{files._prefix()}{name}" for name in ("file.txt", "folder")]
    left[0].write_text("half of it")
    left[1].mkdir()
    (left[1] / "model.json").write_text("{")
    of_others = [tmp_path / name for name in (".chmcnn-elsewhere-x.txt", ".result-settings.txt")]
    with atomic(tmp_path / "running.txt") as running:
        for path in (*left, *of_others, running):
            path.touch()
            os.utime(path, (minute_ago, minute_ago))
        with atomic(tmp_path / "result.txt") as temporary:
            temporary.write_text("whole")
        running.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["result.txt", "running.txt", *(path.name for path in of_others)]
    )
    os.utime(of_others[0], (minute_ago - 24 * 3600, minute_ago - 24 * 3600))
    with atomic(tmp_path / "result.txt") as temporary:
        temporary.write_text("whole")
    assert not of_others[0].exists(), "no process writes a file for a day"
    assert of_others[1].exists()


def test_a_file_that_cannot_be_written_is_told_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(
        ChmcnnError, match=r"file/new/result\.txt cannot be written: Not a directory\. Choose another place"
    ):
        require_writable(tmp_path / "file" / "new" / "result.txt")
    require_writable(tmp_path / "new" / "folder" / "result.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]

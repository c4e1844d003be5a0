import errno
from pathlib import Path

import pytest

from chmcnn._io.files import atomic
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
    told = "result.txt cannot be written: No space left on device. Free some space, or choose a file in another folder."
    with pytest.raises(ChmcnnError, match=told), atomic(tmp_path / "result.txt") as temporary:
        temporary.write_text("half of it")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []

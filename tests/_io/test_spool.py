import errno
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from chmcnn import ChmcnnError
from chmcnn._io.spool import Spool

ROWS = np.random.default_rng(0).random((50, 3), dtype=np.float32)


@pytest.mark.parametrize("in_memory", [True, False])
def test_what_is_appended_is_read_again_and_again(in_memory: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chmcnn._io.spool._BYTES_AT_ONCE", 100)
    with Spool(3, np.float32, in_memory=in_memory) as spool:
        spool.append(ROWS[:20])
        assert np.array_equal(spool.row(7), ROWS[7])
        spool.append(np.asfortranarray(ROWS[20:]))
        assert len(spool) == 50
        for first, second in zip(spool.blocks(), spool.blocks(), strict=True):  # each has its own place
            assert np.array_equal(first, second)
        assert np.array_equal(np.concatenate(list(spool.blocks())), ROWS)


def test_the_temporary_file_disappears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Spool(3, np.float32, in_memory=False) as spool:
        spool.append(ROWS)
        assert np.array_equal(spool.row(49), ROWS[49])
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with Spool(3, np.float32, in_memory=True) as spool:
        monkeypatch.setattr(spool, "_file", mock.Mock(write=full))
        with pytest.raises(ChmcnnError, match=r"do not fit into .*: No space left on device. Set .* TMPDIR"):
            spool.append(ROWS)

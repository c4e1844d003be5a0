import pytest
import torch

from chmcnn._workers import _threads, count_cores, limit_threads, share_cores


def test_processes_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "count_cores", lambda: 8)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert [share_cores(processes) for processes in (1, 2, 4, 9)] == [3, 3, 2, 1]


def test_there_is_a_core() -> None:
    assert count_cores() >= 1


def test_threads_are_limited_inside_a_block() -> None:
    before = torch.get_num_threads()
    with limit_threads(1):
        assert torch.get_num_threads() == 1
        with limit_threads(None):
            assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before

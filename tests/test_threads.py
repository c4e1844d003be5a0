import pytest
import torch

from chmcnn import _threads


def test_processes_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chmcnn._processes.cores", lambda: 8)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert [_threads.share(jobs) for jobs in (1, 2, 4, 9)] == [3, 3, 2, 1]


def test_threads_are_limited_for_the_length_of_a_block() -> None:
    before = torch.get_num_threads()
    with _threads.limited(1):
        assert torch.get_num_threads() == 1
        with _threads.limited(None):
            assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before

import pytest
import torch

from chmcnn._workers import threads


def test_processes_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chmcnn._workers.processes.cores", lambda: 8)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert [threads.share(jobs) for jobs in (1, 2, 4, 9)] == [3, 3, 2, 1]


def test_threads_are_limited_for_the_length_of_a_block() -> None:
    before = torch.get_num_threads()
    with threads.limited(1):
        assert torch.get_num_threads() == 1
        with threads.limited(None):
            assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before

import numpy as np
import pytest
import torch

from chmcnn.training import seed_torch


def draw() -> list[float]:
    return torch.rand(3).tolist()


def test_a_seed_gives_the_numbers_that_it_gives_by_torchs_own_function() -> None:
    torch.manual_seed(7)
    expected = draw()
    for seed in (7, np.int64(7)):
        seed_torch(seed)
        assert draw() == expected


def test_devices_are_seeded_where_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    monkeypatch.setattr(torch, "manual_seed", seeds.append)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    seed_torch(7)
    assert not seeds
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    seed_torch(7)
    assert seeds == [7]

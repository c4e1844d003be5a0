import torch

from chmcnn import _threads


def test_threads_are_limited_for_the_length_of_a_block() -> None:
    before = torch.get_num_threads()
    with _threads.limited(1):
        assert torch.get_num_threads() == 1
        with _threads.limited(None):
            assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before

"""Tests of the rows and the features of the benchmark of encoders."""

import numpy as np
import torch
from benchmarks.encoders import BEST, MEMBERS, ROWS, SETS, list_rows, pool
from benchmarks.texts import SEEDS, split

from chmcnn.ensemble._presets import choose_members


def test_no_row_is_a_test_row_of_any_seed() -> None:
    rows = list_rows(20_000)
    assert len(rows) == ROWS
    for seed in SEEDS:
        assert not np.isin(rows, split(20_000, seed)[1]).any()
    assert (np.diff(rows) > 0).all()


def test_what_is_compared_with_are_the_members_of_best_on_texts_but_the_trees_which_are_for_other_columns() -> None:
    assert [member.name for member in choose_members("best", {}, sparse=True)] == [*BEST, "trees"]
    assert next(iter(SETS.values())) == BEST


def test_each_set_has_known_members() -> None:
    assert {member for members in SETS.values() for member in members} == set(MEMBERS)


def test_padding_does_not_change_the_features_of_a_text() -> None:
    states = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    padded = torch.cat([states, torch.full((2, 2, 4), 7.0)], dim=1)
    mask = torch.tensor([[1, 1, 1, 0, 0]] * 2)
    torch.testing.assert_close(pool(padded, mask), pool(states, mask[:, :3]))
    torch.testing.assert_close(pool(states, mask[:, :3]).norm(dim=1), torch.ones(2))

"""Tests of the rows of the text benchmark."""

import numpy as np
from benchmarks.texts import SEEDS, split, split_for_choice


def test_settings_are_chosen_on_rows_that_are_test_rows_of_no_seed() -> None:
    tested = np.concatenate([split(1000, seed)[1] for seed in SEEDS])
    for seed in SEEDS:
        train, validation = split_for_choice(1000, seed)
        assert not np.isin(np.concatenate([train, validation]), tested).any()
        assert not np.isin(validation, train).any()
        assert len(validation) == (len(train) + len(validation)) // 5

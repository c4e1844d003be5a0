"""What is true of ranks and of the tests on them, whatever the scores."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chmcnn import significance

LEVELS = 6
quick = settings(max_examples=30)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Whole numbers below ``LEVELS``, with many ties; some results are missing, but never all of a data set."""
    datasets, systems = draw(st.integers(2, 8)), draw(st.integers(3, 7))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = random.integers(0, LEVELS, (datasets, systems)).astype(np.float64)
    missing = random.random(scores.shape) < draw(st.sampled_from([0, 0.2]))
    missing[np.arange(datasets), random.integers(0, systems, datasets)] = False
    scores[missing] = np.nan
    table = pd.DataFrame(scores, columns=[f"s{at}" for at in range(systems)])
    assume((table.fillna(-1).max(axis=1) > table.fillna(-1).min(axis=1)).any())
    return table


@quick
@given(table=tables())
def test_average_ranks_sum_to_those_of_one_data_set(table: pd.DataFrame) -> None:
    systems = table.shape[1]
    assert significance.ranks(table).sum() == pytest.approx(systems * (systems + 1) / 2)


@quick
@given(table=tables(), values=st.lists(st.floats(-1e9, 1e9), min_size=LEVELS, max_size=LEVELS, unique=True).map(sorted))
def test_only_the_order_of_scores_counts(table: pd.DataFrame, values: list[float]) -> None:
    increased = table.map(lambda level: values[int(level)], na_action="ignore")
    pd.testing.assert_series_equal(significance.ranks(increased), significance.ranks(table))
    assert significance.friedman(increased).p == significance.friedman(table).p


@quick
@given(table=tables(), data=st.data())
def test_the_order_of_systems_and_of_data_sets_does_not_matter(table: pd.DataFrame, data: st.DataObject) -> None:
    systems = data.draw(st.permutations(list(table.columns)))
    shuffled = table.loc[data.draw(st.permutations(list(table.index))), systems]
    ours, theirs = significance.nemenyi(table), significance.nemenyi(shuffled)
    pd.testing.assert_series_equal(theirs.ranks, ours.ranks[systems])
    pd.testing.assert_frame_equal(theirs.p, ours.p.loc[systems, systems])
    assert theirs.critical_difference == ours.critical_difference
    assert [set(group) for group in theirs.groups] == [set(group) for group in ours.groups]
    assert significance.friedman(shuffled).p == pytest.approx(significance.friedman(table).p)

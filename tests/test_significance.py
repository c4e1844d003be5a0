from typing import Any

import numpy as np
import pandas as pd
import pytest
from scikit_posthocs import posthoc_nemenyi_friedman
from scipy import stats

from chmcnn import ScoreError, significance
from chmcnn.experiments import published
from tests.untyped import untyped

TABLE_2 = published.auprc().drop(columns="DHN")
SMALL = pd.DataFrame({"a": [0.9, 0.8, 0.7], "b": [0.8, 0.6, 0.6], "c": [0.1, 0.2, 0.3]}, index=["x", "y", "z"])


def test_table_2_gives_the_average_ranks_of_the_paper() -> None:
    expected = {"C-HMCNN": 1.25, "HMC-LMLP": 5.0, "Clus-Ens": 3.925, "HMCN-R": 2.925, "HMCN-F": 1.9}
    assert significance.ranks(TABLE_2).to_dict() == pytest.approx(expected, abs=1e-12)


def test_table_2_gives_the_friedman_test_of_the_paper() -> None:
    result = significance.friedman(TABLE_2)
    assert result.chi_square == pytest.approx(73.437, abs=5e-4)
    assert result.p == pytest.approx(4.26e-15, abs=5e-18)
    assert result.datasets == 20
    pd.testing.assert_series_equal(result.ranks, significance.ranks(TABLE_2))


def test_table_2_gives_the_nemenyi_test_of_the_paper() -> None:
    result = significance.nemenyi(TABLE_2)
    assert result.q == pytest.approx(2.728, abs=5e-4)
    assert result.critical_difference == pytest.approx(1.364, abs=5e-4)
    assert result.groups == (
        ("C-HMCNN", "HMCN-F"),
        ("HMCN-F", "HMCN-R"),
        ("HMCN-R", "Clus-Ens"),
        ("Clus-Ens", "HMC-LMLP"),
    )
    assert result.p.index[result.p["C-HMCNN"] > 0.05].tolist() == ["C-HMCNN", "HMCN-F"]


def test_table_2_gives_the_wilcoxon_test_of_the_paper() -> None:
    a, b = TABLE_2["C-HMCNN"], TABLE_2["HMCN-F"]
    assert significance.wilcoxon(a, b).p == pytest.approx(6.01e-3, abs=5e-6)
    assert significance.wilcoxon(a, b, exact=True).p == pytest.approx(4.86e-3, abs=5e-6)
    assert significance.wilcoxon(a, b) == significance.wilcoxon(b.tolist(), a.to_numpy())


def test_table_3_gives_the_average_ranks_of_the_paper() -> None:
    result = significance.ranks(published.ablation()["validation AU(PRC)"])
    assert result.to_dict() == {"h+": 2.9375, "h+MCM": 2.0625, "C-HMCNN": 1.0}


@pytest.mark.parametrize("seed", range(20))
def test_nemenyi_agrees_with_scikit_posthocs(seed: int) -> None:
    random = np.random.default_rng(seed)
    datasets, systems = random.integers(2, 30), random.integers(2, 13)
    scores = random.random((datasets, systems)) + np.linspace(0, random.random(), systems)
    table = pd.DataFrame(scores.round(int(random.integers(1, 4))), columns=[f"s{at:02}" for at in range(systems)])
    result = significance.nemenyi(table)
    theirs = posthoc_nemenyi_friedman(table)
    np.testing.assert_allclose(result.p.to_numpy(), theirs.to_numpy(), rtol=1e-9, atol=1e-12)
    together = {(a, b) for group in result.groups for a in group for b in group if a != b}
    assert together == {(a, b) for a in theirs for b in theirs if a != b and theirs.loc[a, b] > 0.05}


def test_missing_results_share_the_last_ranks_or_their_data_set_is_left_out() -> None:
    table = pd.DataFrame({"a": [0.1, None, 0.5], "b": [0.2, np.nan, 0.4], "c": [0.3, 0.1, 0.3]})
    assert significance.ranks(table).tolist() == pytest.approx([(3 + 2.5 + 1) / 3, (2 + 2.5 + 2) / 3, (1 + 1 + 3) / 3])
    assert significance.ranks(table, missing="omit").tolist() == [2, 2, 2]
    assert significance.nemenyi(table, missing="omit").datasets == 2


def test_wilcoxon_leaves_pairs_with_a_missing_score_out() -> None:
    a, b = [0.9, None, 0.7, 0.6, 0.8], [0.8, 0.5, 0.4, np.nan, 0.3]
    assert significance.wilcoxon(a, b) == significance.wilcoxon([0.9, 0.7, 0.8], [0.8, 0.4, 0.3])
    assert significance.wilcoxon(a, b).pairs == 3


def test_wilcoxon_takes_differences_as_equal_that_only_rounding_makes_differ() -> None:
    assert 0.3 - 0.2 != 0.2 - 0.1
    decimal, whole = ([0.3, 0.2, 0.1], [0.2, 0.1, 0.6]), ([3, 2, 1], [2, 1, 6])
    assert significance.wilcoxon(*decimal) == significance.wilcoxon(*whole)


def test_the_higher_the_level_the_smaller_the_critical_difference() -> None:
    strict, lax = (significance.nemenyi(SMALL, alpha=alpha) for alpha in (0.01, 0.1))
    assert strict.critical_difference > lax.critical_difference
    assert strict.groups == (("a", "b", "c"),)
    assert lax.groups == (("a", "b"), ("b", "c"))


def test_systems_that_all_differ_form_no_group() -> None:
    assert significance.nemenyi(pd.concat([SMALL] * 20, ignore_index=True)).groups == ()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2, 3]], "The table is a list; expected a pandas DataFrame"),
        (SMALL[["a", "b"]], "The table has 2 systems; expected 3 or more. For two systems use wilcoxon."),
        (SMALL[:1], "The table has 1 data set; expected 2 or more."),
        (SMALL[:0], "The table has 0 data sets; expected 2 or more."),
        (SMALL * 0, "All systems have the same scores on all 3 data sets"),
        (SMALL.replace(0.6, np.inf), "The score of 'b' on data set 'y' is inf; expected a number"),
        (SMALL.astype(object).replace(0.3, "-"), "The score of 'c' on data set 'z' is '-'; expected a number"),
        (SMALL.rename(columns={"c": "a"}), "System 'a' is in the table twice"),
        (SMALL.rename(index={"z": "y"}), "Data set 'y' is in the table twice"),
        (SMALL.drop("y").reindex(SMALL.index), "Data set 'y' has no result of any system: drop it from the table."),
    ],
)
def test_tables_that_cannot_be_tested_are_refused(table: Any, message: str) -> None:
    with pytest.raises(ScoreError) as caught:
        significance.friedman(table)
    assert message in str(caught.value)


def test_options_that_there_are_not_are_refused() -> None:
    with pytest.raises(ScoreError, match="missing is 'first'; expected one of 'last', 'omit'"):
        significance.ranks(SMALL, missing=untyped("first"))
    with pytest.raises(ScoreError, match="alpha is 5; expected a significance level between 0 and 1"):
        significance.nemenyi(SMALL, alpha=5)
    with pytest.raises(ScoreError, match="The table has 1 system; expected 2 or more"):
        significance.nemenyi(SMALL[["a"]])
    with pytest.raises(ScoreError, match="All systems have the same scores on all 3 data sets"):
        significance.nemenyi(SMALL * 0)
    incomplete = SMALL.replace([0.6, 0.1], np.nan)
    with pytest.raises(ScoreError, match="The table has 3 data sets, 0 of them without a missing result"):
        significance.ranks(incomplete, missing="omit")


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([0.1, 0.2], [0.1], "a has 2 scores and b has 1"),
        ([0.1, 0.2], [[0.1], [0.3]], "b has 2 dimensions; expected one score per data set"),
        ([0.1, None], [0.2, 0.3], "a and b have 1 pair without a missing score; expected 2 or more"),
        ([0.1, 0.3], [0.1, 0.3], "a and b are equal in all 2 pairs"),
        ([0.0, 0.0], [0.0, 0.0], "a and b are equal in all 2 pairs"),
        ([0.1, 0.3], [0.1, "?"], "The score of 'b' on data set 1 is '?'"),
        (SMALL["a"], [0.1, -np.inf, 0.2], "The score of 'b' on data set 'y' is -inf"),
        (SMALL["a"], SMALL["b"][::-1], "At position 0, a has data set 'x' and b has 'z'"),
    ],
)
def test_pairs_that_cannot_be_tested_are_refused(a: Any, b: Any, message: str) -> None:
    with pytest.raises(ScoreError) as caught:
        significance.wilcoxon(a, b)
    assert message in str(caught.value)


def test_splits_that_share_no_rows_are_tested_by_the_usual_t_test() -> None:
    a, b = np.random.default_rng(0).random((2, 8))
    usual = stats.ttest_rel(a, b).pvalue
    assert significance.resampled(a, b, test_share=1e-12) == pytest.approx(usual)
    assert significance.resampled(b, a, test_share=0.2) == significance.resampled(a, b, test_share=0.2) > usual


def test_splits_without_any_deviation_leave_no_doubt() -> None:
    assert significance.resampled([0.5, 0.5, 0.5], [0.5, 0.5, 0.5], test_share=0.2) == 1
    assert significance.resampled([0.5, 0.6, 0.7], [0.4, 0.5, 0.6], test_share=0.2) < 1e-12
    with pytest.raises(ScoreError, match="test_share is 1; expected a share of the rows between 0 and 1"):
        significance.resampled([0.5, 0.6], [0.4, 0.5], test_share=1)


def test_holm_corrects_the_smallest_most_and_keeps_the_order() -> None:
    assert significance.holm([0.04, 0.001, 0.03, 0.5]) == pytest.approx([0.09, 0.004, 0.09, 0.5])
    assert significance.holm([0.9, 0.8]) == [1, 1]
    assert significance.holm([]) == []

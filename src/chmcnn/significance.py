"""Statistical tests of differences between systems, the usual ones over several data sets (Demsar, 2006).

A table is a DataFrame of scores, data sets x systems: higher is better, NaN is a missing result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from scipy import stats

from chmcnn import _wording
from chmcnn.errors import ScoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Missing = Literal["last", "omit"]
Scores: TypeAlias = "Sequence[float | None] | NDArray[np.floating] | pd.Series[float]"
"""Scores of one system, one per data set or split; None or NaN is missing."""


@dataclass(frozen=True, slots=True, eq=False)
class Friedman:
    """Whether any system differs from the others: the statistic, its p-value, and the average ranks."""

    chi_square: float
    p: float
    ranks: pd.Series[float]  # (systems,) average ranks
    datasets: int


@dataclass(frozen=True, slots=True, eq=False)
class Nemenyi:
    """Which systems differ: those whose average ranks are ``critical_difference`` or more apart."""

    ranks: pd.Series[float]  # (systems,) average ranks
    q: float
    critical_difference: float
    p: pd.DataFrame  # (systems, systems)
    groups: tuple[tuple[str, ...], ...]  # maximal groups that do not differ, best first
    alpha: float
    datasets: int


@dataclass(frozen=True, slots=True)
class Wilcoxon:
    """Whether two systems differ: the smaller sum of signed ranks, its p-value, and the number of pairs compared."""

    statistic: float
    p: float
    pairs: int


def ranks(table: pd.DataFrame, *, missing: Missing = "last") -> pd.Series[float]:
    """Average rank of each system over the data sets: 1 is best, equal scores share their ranks.

    Parameters
    ----------
    table
        Scores, data sets x systems; higher is better.
    missing
        How to treat a missing result: rank it ``"last"``, or exclude its data set (``"omit"``).

    Examples
    --------
    >>> table = pd.DataFrame({"ours": [0.9, 0.8, 0.7], "theirs": [0.8, 0.8, None]}, index=["enron", "seq", "spo"])
    >>> ranks(table).to_dict()
    {'ours': 1.1666666666666667, 'theirs': 1.8333333333333333}
    >>> ranks(table, missing="omit").to_dict()
    {'ours': 1.25, 'theirs': 1.75}
    """
    return _rank(table, missing, systems=2).mean().rename("average rank")


def friedman(table: pd.DataFrame, *, missing: Missing = "last") -> Friedman:
    """Test whether any of three or more systems differs from the others, by their ranks (corrected for ties).

    >>> table = pd.DataFrame({"a": [0.9, 0.8, 0.7, 0.9], "b": [0.8, 0.7, 0.6, 0.8], "c": [0.5, 0.6, 0.5, 0.7]})
    >>> result = friedman(table)
    >>> round(result.chi_square, 3), round(result.p, 4), result.ranks.to_dict()
    (8.0, 0.0183, {'a': 1.0, 'b': 2.0, 'c': 3.0})
    """
    ranked = _check_differences(_rank(table, missing, systems=3))
    result = stats.friedmanchisquare(*ranked.to_numpy().T)
    return Friedman(float(result.statistic), float(result.pvalue), ranked.mean().rename("average rank"), len(ranked))


def nemenyi(table: pd.DataFrame, *, alpha: float = 0.05, missing: Missing = "last") -> Nemenyi:
    """Find which systems differ from which, after `friedman` has shown that some do.

    ``report.significance.draw`` draws the critical-difference diagram of the result.

    >>> table = pd.DataFrame({"a": [0.9, 0.8, 0.7, 0.9], "b": [0.8, 0.7, 0.6, 0.8], "c": [0.5, 0.6, 0.5, 0.7]})
    >>> result = nemenyi(table)
    >>> round(result.critical_difference, 3), result.groups
    (1.657, (('a', 'b'), ('b', 'c')))
    >>> round(float(result.p.loc["a", "c"]), 4)
    0.013
    """
    if not 0 < alpha < 1:
        raise ScoreError(f"alpha is {alpha}; expected a significance level between 0 and 1, such as 0.05.")
    ranked = _check_differences(_rank(table, missing, systems=2))
    datasets, systems = ranked.shape
    average = ranked.mean().rename("average rank")
    q = float(stats.studentized_range.isf(alpha, systems, math.inf)) / math.sqrt(2)
    error = math.sqrt(systems * (systems + 1) / (6 * datasets))  # the standard error of a difference of average ranks
    differences = np.abs(np.subtract.outer(average.to_numpy(), average.to_numpy()))
    p = stats.studentized_range.sf(differences / error * math.sqrt(2), systems, math.inf)
    return Nemenyi(
        ranks=average,
        q=q,
        critical_difference=q * error,
        p=pd.DataFrame(p, index=average.index, columns=average.index),
        groups=_groups(average.sort_values(kind="stable"), q * error),
        alpha=alpha,
        datasets=datasets,
    )


def wilcoxon(
    a: Scores,
    b: Scores,
    *,
    exact: bool = False,
) -> Wilcoxon:
    """Test whether two systems differ, by the signed ranks of their differences on each data set.

    Pairs with a missing value and equal pairs are excluded. Differences that differ only by rounding
    (0.3 - 0.2 and 0.2 - 0.1) are tied.

    Parameters
    ----------
    a, b
        Scores of the two systems on the same data sets, in the same order.
    exact
        False: the p-value of the normal approximation, corrected for ties but not for continuity, as in the paper.
        True: that of the exact distribution, which is better for few data sets but ignores ties.

    Examples
    --------
    >>> wilcoxon([0.9, 0.8, 0.7, 0.9, 0.6], [0.8, 0.6, 0.4, 0.5, 0.1], exact=True)
    Wilcoxon(statistic=0.0, p=0.0625, pairs=5)
    """
    pairs = _pairs(a, b)
    values = pairs.to_numpy()
    # Relative to the largest score, so that equal differences of rounded figures are tied.
    scaled = values / (np.abs(values).max() or 1)
    differences = np.round(scaled[:, 0] - scaled[:, 1], 12)
    if not differences.any():
        raise ScoreError(f"a and b are equal in all {_wording.count(len(pairs), 'pair')}: there is nothing to test.")
    result = stats.wilcoxon(differences, correction=False, method="exact" if exact else "approx")
    return Wilcoxon(float(result.statistic), float(result.pvalue), int((differences != 0).sum()))


def resampled(
    a: Scores,
    b: Scores,
    *,
    test_share: float,
) -> float:
    """Test whether two systems differ on one data set, by their scores on the same folds or the same random splits.

    Splits of one data set share rows: the usual t-test reports differences that do not exist. This is the corrected one
    of Nadeau and Bengio (2003). It does not apply to several seeds on the same test rows, which say nothing about
    other rows.

    Parameters
    ----------
    a, b
        Scores of the two systems on the same splits, in the same order.
    test_share
        Share of the rows that a split tests on: 1/5 for 5 folds.

    Returns
    -------
    p
        The two-sided p-value.

    Examples
    --------
    >>> print(f"{resampled([0.9, 0.8, 0.7, 0.9, 0.6], [0.8, 0.6, 0.6, 0.7, 0.5], test_share=1 / 5):.3f}")
    0.019
    """
    if not 0 < test_share < 1:
        raise ScoreError(f"test_share is {test_share}; expected a share of the rows between 0 and 1.")
    values = _pairs(a, b).to_numpy()
    differences = values[:, 0] - values[:, 1]
    deviation = float(differences.std(ddof=1)) * math.sqrt(1 / len(values) + test_share / (1 - test_share))
    mean = float(differences.mean())
    if deviation <= 1e-12 * abs(mean) or not differences.any():
        return 1.0 if mean == 0 else 0.0
    return float(2 * stats.t.sf(abs(mean) / deviation, len(values) - 1))


def holm(p: Sequence[float]) -> list[float]:
    """Correct the p-values of several tests, so that the error rate of all of them is that of one (Holm, 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    scaled = np.asarray(p, dtype=np.float64)[order] * np.arange(len(p), 0, -1)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return [float(value) for value in corrected]


def _rank(table: pd.DataFrame, missing: Missing, systems: int) -> pd.DataFrame:
    """Check the table, and rank the systems on each data set."""
    if missing not in get_args(Missing):
        raise ScoreError(f"missing is {missing!r}; expected one of {', '.join(map(repr, get_args(Missing)))}.")
    scores = _check_table(table)
    if scores.shape[1] < systems:
        advice = " For two systems use wilcoxon." if systems == 3 else ""
        raise ScoreError(
            f"The table has {_wording.count(scores.shape[1], 'system')}; expected {systems} or more.{advice}"
        )
    empty = scores.index[scores.isna().all(axis=1)]
    if len(empty):
        raise ScoreError(f"Data set {empty[0]!r} has no result of any system: drop it from the table.")
    rankable = scores.dropna() if missing == "omit" else scores
    if len(rankable) < 2:
        omitted = f", {len(rankable)} of them without a missing result" if len(rankable) < len(scores) else ""
        raise ScoreError(f"The table has {_wording.count(len(scores), 'data set')}{omitted}; expected 2 or more.")
    return pd.DataFrame(
        stats.rankdata(-rankable.fillna(-np.inf), axis=1), index=rankable.index, columns=rankable.columns
    )


def _check_differences(ranked: pd.DataFrame) -> pd.DataFrame:
    if (ranked.max(axis=1) == ranked.min(axis=1)).all():
        raise ScoreError(
            f"All systems have the same scores on all {_wording.count(len(ranked), 'data set')}: nothing to test."
        )
    return ranked


def _check_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the scores as floats, with NaN for missing ones; raise an error for duplicate names and bad cells."""
    if not isinstance(table, pd.DataFrame):
        raise ScoreError(f"The table is a {type(table).__name__}; expected a pandas DataFrame, data sets x systems.")
    for what, names in (("Data set", table.index), ("System", table.columns)):
        if names.has_duplicates:
            raise ScoreError(f"{what} {names[names.duplicated()][0]!r} is in the table twice; names must differ.")
    return pd.DataFrame(
        {
            system: [_number(cell, dataset, system) for dataset, cell in column.items()]
            for system, column in table.items()
        },
        index=table.index,
        columns=table.columns,
        dtype=np.float64,
    )


def _number(cell: object, dataset: object, system: object) -> float:
    if cell is None or cell is pd.NA:
        return math.nan
    if not isinstance(cell, Real) or math.isinf(cell):
        raise ScoreError(
            f"The score of {system!r} on data set {dataset!r} is {cell!r}; expected a number, or NaN if it is missing."
        )
    return float(cell)


def _pairs(a: Scores, b: Scores) -> pd.DataFrame:
    """Return pairs of scores, data sets x two systems, without incomplete ones."""
    for name, values in (("a", a), ("b", b)):
        dimensions = np.asarray(values, dtype=object).ndim
        if dimensions != 1:
            raise ScoreError(f"{name} has {dimensions} dimensions; expected one score per data set.")
    if len(a) != len(b):
        raise ScoreError(f"a has {len(a)} scores and b has {len(b)}; expected one score per data set in both.")
    if isinstance(a, pd.Series) and isinstance(b, pd.Series) and not a.index.equals(b.index):
        at = int(np.argmax(a.index.to_numpy() != b.index.to_numpy()))
        raise ScoreError(
            f"At position {at}, a has data set {a.index[at]!r} and b has {b.index[at]!r}; pass both in the same order."
        )
    pairs = _check_table(pd.DataFrame({"a": a, "b": b})).dropna()
    if len(pairs) < 2:
        raise ScoreError(
            f"a and b have {_wording.count(len(pairs), 'pair')} without a missing score; expected 2 or more."
        )
    return pairs


def _groups(ordered: pd.Series[float], critical_difference: float) -> tuple[tuple[str, ...], ...]:
    """Return the longest runs of two or more neighbours whose ends do not differ."""
    names, values = ordered.index.tolist(), ordered.to_numpy()
    # For each system, the position after the last one that does not differ from it; never decreases.
    ends = np.searchsorted(values, values + critical_difference, side="left").tolist()
    starts = [at for at, end in enumerate(ends) if end - at > 1 and (at == 0 or end > ends[at - 1])]
    return tuple(tuple(names[at : ends[at]]) for at in starts)

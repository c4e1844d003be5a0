"""Bootstrap intervals of measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np

from chmcnn._wording import count
from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import as_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from chmcnn._typing import LabelsLike, ScoresLike

Numbers: TypeAlias = Any
"""A number, or numbers in a dict, a tuple or an array, of any depth."""


class Interval(NamedTuple):
    """A measured value and its bootstrap interval."""

    value: float
    low: float
    high: float


@overload
def bootstrap(
    measure: Callable[[Any, Any], float],
    Y: LabelsLike,
    scores: ScoresLike,
    *,
    repeats: int = ...,
    confidence: float = ...,
    seed: int = ...,
    progress: bool = ...,
) -> Interval: ...
@overload
def bootstrap(
    measure: Callable[[Any, Any], Numbers],
    Y: LabelsLike,
    scores: ScoresLike,
    *,
    repeats: int = ...,
    confidence: float = ...,
    seed: int = ...,
    progress: bool = ...,
) -> Numbers: ...
def bootstrap(
    measure: Callable[[Any, Any], Numbers],
    Y: LabelsLike,
    scores: ScoresLike,
    *,
    repeats: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: bool = False,
) -> Numbers:
    """Return the result of a measure, with a bootstrap interval over rows for each of its numbers.

    Parameters
    ----------
    measure
        Function of labels and scores. It returns a number, or several: a dict, as `by_level` does, an array, as
        ``auprc(..., average=None)`` does, or a tuple, as `hierarchical` does.
    Y, scores
        True labels, and the scores or predicted labels to compare with them (rows, classes).
    repeats, confidence, seed
        Number of resamples, confidence level of the intervals, and random seed.
    progress
        Show a progress bar on standard error.

    Returns
    -------
    Interval, or several
        The result with an interval in place of each number, and a list in place of an array. Resamples in which a
        number is NaN, as for a class without a positive row, are left out of its interval.

    Examples
    --------
    >>> truth, scores = np.eye(2)[[0, 1] * 20], np.eye(2)[[0, 1] * 18 + [1, 0] * 2]
    >>> from chmcnn.metrics import exact_match, hierarchical
    >>> bootstrap(exact_match, truth, scores, repeats=100)
    Interval(value=0.9, low=0.775, high=0.975)
    >>> bootstrap(hierarchical, truth, scores, repeats=100).recall
    Interval(value=0.9, low=0.775, high=0.975)
    """
    if repeats < 1 or not 0 < confidence < 1:
        raise ScoreError(f"repeats is {repeats} and confidence {confidence}; expected 1 or more, and between 0 and 1.")
    truth, values = as_rows(Y), as_rows(scores)
    if truth.shape[0] != values.shape[0]:
        raise ScoreError(f"Y has {count(truth.shape[0], 'row')} and the scores {values.shape[0]:,}; expected the same.")
    measured = measure(truth, values)
    numbers = _numbers(measured)
    random = np.random.default_rng(seed)
    resampled = np.empty((repeats, len(numbers)))
    for repeat in _iterate(repeats, progress=progress):
        rows = random.integers(0, truth.shape[0], truth.shape[0])
        resampled[repeat] = _numbers(measure(truth[rows], values[rows]))
    quantiles = _quantiles(resampled, [(1 - confidence) / 2, (1 + confidence) / 2])
    return _replace_numbers(measured, (Interval(*bounds) for bounds in zip(numbers, *quantiles.tolist(), strict=True)))


def _numbers(result: Numbers) -> list[float]:
    """Return all numbers of a result, in order."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, tuple | list | np.ndarray):
        return [number for part in result for number in _numbers(part)]
    if not isinstance(result, float | int | np.number):
        kind = type(result).__name__
        raise ScoreError(f"The measure returns a {kind}; expected a number, or numbers in a dict, a tuple or an array.")
    return [float(result)]


def _replace_numbers(result: Numbers, intervals: Iterator[Interval]) -> Numbers:
    """Return the result with an interval in place of each number."""
    if isinstance(result, dict):
        return {name: _replace_numbers(part, intervals) for name, part in result.items()}
    if not isinstance(result, tuple | list | np.ndarray):
        return next(intervals)
    parts = [_replace_numbers(part, intervals) for part in result]
    return type(result)(*parts) if hasattr(result, "_fields") else parts


def _quantiles(resampled: NDArray[np.float64], shares: list[float]) -> NDArray[np.float64]:
    """Return quantiles of each column, ignoring NaN; NaN for a column without numbers."""
    bounds = np.full((len(shares), resampled.shape[1]), np.nan)
    defined = ~np.isnan(resampled).all(axis=0)
    bounds[:, defined] = np.nanquantile(resampled[:, defined], shares, axis=0).round(12)
    return bounds


def _iterate(repeats: int, *, progress: bool) -> Iterable[int]:
    if not progress:
        return range(repeats)
    from rich.console import Console
    from rich.progress import track

    return track(range(repeats), "Bootstrap", console=Console(stderr=True), transient=True)

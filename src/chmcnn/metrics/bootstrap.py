"""How sure a measured figure is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from chmcnn.errors import ScoreError
from chmcnn.metrics._inputs import dense

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray


class Interval(NamedTuple):
    """A measured value, and the interval that its bootstrap gives."""

    value: float
    low: float
    high: float


@overload
def bootstrap(
    measure: Callable[[Any, Any], float],
    Y: Any,  # noqa: ANN401
    scores: Any,  # noqa: ANN401
    *,
    repeats: int = ...,
    confidence: float = ...,
    seed: int = ...,
    progress: bool = ...,
) -> Interval: ...
@overload
def bootstrap(
    measure: Callable[[Any, Any], Any],
    Y: Any,  # noqa: ANN401
    scores: Any,  # noqa: ANN401
    *,
    repeats: int = ...,
    confidence: float = ...,
    seed: int = ...,
    progress: bool = ...,
) -> Any: ...  # noqa: ANN401
def bootstrap(  # noqa: PLR0913 -- four by name, each with a default
    measure: Callable[[Any, Any], Any],
    Y: Any,
    scores: Any,
    *,
    repeats: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: bool = False,
) -> Any:
    """Measure, and draw rows with repetition to see how far chance may have moved the result.

    Parameters
    ----------
    measure
        What takes labels and scores. It gives a number, or several: a dict, such as that of `by_level`, an array, such
        as that of ``auprc(..., average=None)``, or a tuple, such as that of `hierarchical`.
    Y, scores
        True labels, and what is compared with them (rows, classes).
    repeats, confidence, seed
        How often to draw, the share of the draws that an interval holds, and what decides the draws.
    progress
        Whether to show a bar on standard error.

    Returns
    -------
    Interval, or several
        In place of each number, its interval; a list in place of an array. Draws in which a number is NaN, as that of a
        class without a drawn row may be, do not count in its interval.

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
    truth, given = dense(Y), dense(scores)
    measured = measure(truth, given)
    values = _numbers(measured)
    random = np.random.default_rng(seed)
    drawn = np.empty((repeats, len(values)))
    for repeat in _shown(repeats, progress=progress):
        rows = random.integers(0, len(truth), len(truth))
        drawn[repeat] = _numbers(measure(truth[rows], given[rows]))
    bounds = _quantiles(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return _in_place(measured, (Interval(*each) for each in zip(values, *bounds.tolist(), strict=True)))


def _numbers(result: Any) -> list[float]:  # noqa: ANN401
    """All numbers of a result, in order."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, tuple | list | np.ndarray):
        return [number for each in result for number in _numbers(each)]
    if not isinstance(result, float | int | np.number):
        kind = type(result).__name__
        raise ScoreError(f"The measure gives a {kind}; expected a number, or numbers in a dict, a tuple or an array.")
    return [float(result)]


def _in_place(result: Any, intervals: Iterator[Interval]) -> Any:  # noqa: ANN401
    """The same as a result, with an interval in place of each number."""
    if isinstance(result, dict):
        return {name: _in_place(each, intervals) for name, each in result.items()}
    if not isinstance(result, tuple | list | np.ndarray):
        return next(intervals)
    parts = [_in_place(each, intervals) for each in result]
    return type(result)(*parts) if hasattr(result, "_fields") else parts


def _quantiles(drawn: NDArray[np.float64], shares: list[float]) -> NDArray[np.float64]:
    """Quantiles of each column among its numbers; NaN for a column that has none."""
    bounds = np.full((len(shares), drawn.shape[1]), np.nan)
    known = ~np.isnan(drawn).all(axis=0)
    bounds[:, known] = np.nanquantile(drawn[:, known], shares, axis=0).round(12)
    return bounds


def _shown(repeats: int, *, progress: bool) -> Iterable[int]:
    if not progress:
        return range(repeats)
    from rich.console import Console
    from rich.progress import track

    return track(range(repeats), "Bootstrap", console=Console(stderr=True), transient=True)

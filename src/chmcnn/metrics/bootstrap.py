"""How sure a measured figure is, and how it differs between levels of the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chmcnn.errors import ScoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from chmcnn.hierarchy import Hierarchy


class Interval(NamedTuple):
    """A measured value, and the interval that its bootstrap gives."""

    value: float
    low: float
    high: float


def bootstrap(  # noqa: PLR0913 -- three by name, each with a default
    measure: Callable[[Any, Any], float],
    Y: Any,  # noqa: ANN401, N803
    scores: Any,  # noqa: ANN401
    *,
    repeats: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Measure, and draw rows with repetition to see how far chance may have moved the result.

    >>> truth, scores = np.eye(2)[[0, 1] * 20], np.eye(2)[[0, 1] * 18 + [1, 0] * 2]
    >>> from chmcnn.metrics import exact_match
    >>> bootstrap(exact_match, truth, scores, repeats=100)
    Interval(value=0.9, low=0.775, high=0.975)
    """
    if repeats < 1 or not 0 < confidence < 1:
        raise ScoreError(f"repeats is {repeats} and confidence {confidence}; expected 1 or more, and between 0 and 1.")
    truth, given = np.asarray(Y), np.asarray(scores)
    random = np.random.default_rng(seed)
    drawn = (random.integers(0, len(truth), len(truth)) for _ in range(repeats))
    values = np.array([measure(truth[rows], given[rows]) for rows in drawn])
    low, high = np.nanquantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(measure(truth, given)), round(float(low), 12), round(float(high), 12))


def by_level(
    measure: Callable[..., float],
    Y: Any,  # noqa: ANN401, N803
    scores: Any,  # noqa: ANN401
    hierarchy: Hierarchy,
    *,
    classes: ArrayLike | None = None,
) -> dict[int, float]:
    """Measure the classes of each level alone; the level of a class is its longest path from a root.

    >>> from chmcnn import Hierarchy
    >>> from chmcnn.metrics import auprc
    >>> by_level(auprc, [[1, 1], [1, 0]], [[0.9, 0.8], [0.9, 0.85]], Hierarchy.from_edges([("a", "b")]))
    {0: 1.0, 1: 0.5}
    """
    counted = np.ones(len(hierarchy), dtype=np.bool_)
    if classes is not None:
        counted[:] = False
        counted[np.asarray(classes)] = True
    levels = sorted(set(hierarchy.depths[counted].tolist()))
    return {level: measure(Y, scores, classes=counted & (hierarchy.depths == level)) for level in levels}

"""The space of a search: values or a range for each setting."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chmcnn.errors import FileError
from chmcnn.settings import SEARCHED, check_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from optuna.distributions import BaseDistribution

    from chmcnn._typing import JSONValue

APPENDIX: dict[str, Any] = {
    "learning_rate": [1e-3, 1e-4, 1e-5],
    "batch_size": [4, 64, 256],
    "dropout": [0.6, 0.7],
    "weight_decay": [1e-3, 1e-5],
    "widths": [[width, width] for width in (*range(250, 2000, 250), *range(2000, 10001, 1000))],
}
"""The space of the paper's appendix: 576 settings."""

_MOST_VALUES = 1_000
"""Values of a range with a step: no search tries more of one setting."""
_MOST_POINTS = 1_000_000
"""Points of a grid, which is drawn in random order, and so is in memory as a whole."""
_RANGE = {"low", "high", "step", "log"}
_EXPECTED = 'a list of values, or a range: {"low": 0.1, "high": 0.9}, with "step": 0.1 or "log": true if needed'


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers between two, on a linear or logarithmic scale."""

    low: float
    high: float
    log: bool
    integer: bool

    def distribution(self) -> BaseDistribution:
        """Return the range as a distribution of Optuna."""
        from optuna.distributions import FloatDistribution, IntDistribution

        if self.integer:
            return IntDistribution(int(self.low), int(self.high), log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)


@dataclass(frozen=True, slots=True)
class Space:
    """Values or a range for each setting.

    Optuna chooses the positions of values: values may be lists, and numbers have an order that it can learn from.

    >>> space = Space.of({"dropout": [0.5, 0.7], "epochs": {"low": 10, "high": 30, "step": 10}})
    >>> len(space.grid(seed=0)), space.settings({"dropout": 1, "epochs": 0})
    (6, {'dropout': 0.7, 'epochs': 10})
    """

    axes: Mapping[str, list[Any] | Range]
    path: Path | None = None  # the file it was read from

    @classmethod
    def of(cls, space: Mapping[str, Any], path: Path | None = None) -> Space:
        """Check a space written by a user."""
        if not space:
            raise FileError("the space is empty; expected settings with their values", path)
        return cls({name: _read_axis(name, axis, path) for name, axis in space.items()}, path)

    def distributions(self) -> dict[str, BaseDistribution]:
        """Return the distributions that Optuna chooses from."""
        from optuna.distributions import CategoricalDistribution, IntDistribution

        distributions: dict[str, BaseDistribution] = {}
        for name, axis in self.axes.items():
            if isinstance(axis, Range):
                distributions[name] = axis.distribution()
            elif _is_ordered(axis):
                distributions[name] = IntDistribution(0, len(axis) - 1)
            else:
                distributions[name] = CategoricalDistribution(list(range(len(axis))))
        return distributions

    def settings(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that Optuna chose; those that are None are left to the preset."""
        values = {
            name: chosen[name] if isinstance(axis, Range) else axis[chosen[name]] for name, axis in self.axes.items()
        }
        return {name: value for name, value in values.items() if value is not None}

    def grid(self, seed: int) -> list[dict[str, int]]:
        """Return all combinations of positions, in an order drawn by a seed: the first ones are from everywhere."""
        sizes = []
        for name, axis in self.axes.items():
            if isinstance(axis, Range):
                raise FileError(
                    f"{name} has a range without a step, which a grid cannot cover; add a step, list values, or use "
                    "the sampler tpe",
                    self.path,
                )
            sizes.append(range(len(axis)))
        if math.prod(map(len, sizes)) > _MOST_POINTS:
            raise FileError(
                f"the grid has {math.prod(map(len, sizes)):,} points; list fewer values, or use the sampler tpe, which "
                "does not try them all",
                self.path,
            )
        points = [dict(zip(self.axes, point, strict=True)) for point in itertools.product(*sizes)]
        return [points[place] for place in np.random.default_rng(seed).permutation(len(points))]


def _read_axis(name: str, axis: JSONValue, path: Path | None) -> list[Any] | Range:
    check_settings({name: None}, path, SEARCHED)
    values = _read_range(name, axis, path) if isinstance(axis, dict) else axis
    if isinstance(values, Range):
        if SEARCHED[name].unsearched:
            raise FileError(f"{name} has a range; use a list with one value: {SEARCHED[name].unsearched}", path)
        return values
    if not isinstance(values, list) or not values:
        raise FileError(f"{name} is {axis!r}; expected {_EXPECTED}", path)
    for place, value in enumerate(values):
        check_settings({name: value}, path, SEARCHED)
        if value in values[:place]:
            raise FileError(f"{name} has the value {value!r} twice; list it once", path)
    if len(values) > 1 and SEARCHED[name].unsearched:
        raise FileError(f"{name} has {len(values)} values; use one: {SEARCHED[name].unsearched}", path)
    return sorted(values) if _is_ordered(values) else values


def _read_range(name: str, axis: dict[str, Any], path: Path | None) -> list[Any] | Range:
    if not {"low", "high"} <= set(axis) <= _RANGE or not isinstance(axis.get("log", False), bool):
        raise FileError(f"{name} is {axis!r}; expected {_EXPECTED}", path)
    low, high, step, log = axis["low"], axis["high"], axis.get("step"), axis.get("log", False)
    for bound in (low, high):
        check_settings({name: _check_number(name, bound, path)}, path, SEARCHED)
    integer = SEARCHED[name].domain.type is int
    if not low < high or (log and not low > 0):
        raise FileError(
            f"{name} goes from {low!r} to {high!r}{' with log' if log else ''}; expected low < high, and low > 0 with "
            "log",
            path,
        )
    if step is None:
        return Range(low, high, log, integer)
    if log or not _check_number(name, step, path) > 0 or (integer and not isinstance(step, int)):
        raise FileError(
            f"{name} has the step {step!r}; expected a number above 0, an integer if the setting is one, and no log",
            path,
        )
    if (high - low) / step >= _MOST_VALUES:
        raise FileError(
            f"{name} has the step {step!r} from {low!r} to {high!r}, which is more than {_MOST_VALUES:,} values; use a "
            "larger step, or none for all numbers between",
            path,
        )
    count = int((high - low) / step + 1e-9) + 1
    return [low + place * step if integer else round(low + place * step, 12) for place in range(count)]


def _check_number(name: str, value: JSONValue, path: Path | None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileError(f"{name} has {value!r} in its range; expected a number", path)
    return value


def _is_ordered(values: list[Any]) -> bool:
    """Whether values have an order: numbers, and sizes of layers."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return numbers or all(isinstance(value, list) for value in values)

"""What a search tries: some values, or a range, of each setting."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chmcnn.errors import FileError
from chmcnn.settings import SETTINGS, check_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from optuna.distributions import BaseDistribution

APPENDIX: dict[str, Any] = {
    "learning_rate": [1e-3, 1e-4, 1e-5],
    "batch_size": [4, 64, 256],
    "dropout": [0.6, 0.7],
    "weight_decay": [1e-3, 1e-5],
    "widths": [[width, width] for width in (*range(250, 2000, 250), *range(2000, 10001, 1000))],
}
"""The space of the paper's appendix: 576 settings."""

_RANGE = {"low", "high", "step", "log"}
_EXPECTED = 'a list of values, or a range: {"low": 0.1, "high": 0.9}, and "step": 0.1 or "log": true if need be'


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers between two; evenly, or on a logarithmic scale."""

    low: float
    high: float
    log: bool
    whole: bool

    def distribution(self) -> BaseDistribution:
        """The same, as Optuna has it."""
        from optuna.distributions import FloatDistribution, IntDistribution

        if self.whole:
            return IntDistribution(int(self.low), int(self.high), log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)


@dataclass(frozen=True, slots=True)
class Space:
    """Values or a range of each setting.

    Optuna is given the positions of values: these may be lists, and numbers have an order that it can learn from.

    >>> space = Space.of({"dropout": [0.5, 0.7], "epochs": {"low": 10, "high": 30, "step": 10}})
    >>> len(space.grid(seed=0)), space.settings({"dropout": 1, "epochs": 0})
    (6, {'dropout': 0.7, 'epochs': 10})
    """

    axes: Mapping[str, list[Any] | Range]
    path: Path | None = None  # of the file that it was read from

    @classmethod
    def of(cls, given: Mapping[str, Any], path: Path | None = None) -> Space:
        """Check what a user wrote."""
        if not given:
            raise FileError("the space is empty; expected settings with their values", path)
        return cls({name: _axis(name, axis, path) for name, axis in given.items()}, path)

    def distributions(self) -> dict[str, BaseDistribution]:
        """What Optuna chooses from."""
        from optuna.distributions import CategoricalDistribution, IntDistribution

        found: dict[str, BaseDistribution] = {}
        for name, axis in self.axes.items():
            if isinstance(axis, Range):
                found[name] = axis.distribution()
            elif _ordered(axis):
                found[name] = IntDistribution(0, len(axis) - 1)
            else:
                found[name] = CategoricalDistribution(list(range(len(axis))))
        return found

    def settings(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """What Optuna chose, as settings of a training; None is what is left to the preset."""
        found = {
            name: chosen[name] if isinstance(axis, Range) else axis[chosen[name]] for name, axis in self.axes.items()
        }
        return {name: value for name, value in found.items() if value is not None}

    def grid(self, seed: int) -> list[dict[str, int]]:
        """All combinations, as Optuna has them, in an order drawn by a seed: the first ones are from everywhere."""
        sizes = []
        for name, axis in self.axes.items():
            if isinstance(axis, Range):
                raise FileError(
                    f"{name} has a range without a step, which no grid can cover; give a step or a list of values, or "
                    "use the sampler tpe",
                    self.path,
                )
            sizes.append(range(len(axis)))
        points = [dict(zip(self.axes, point, strict=True)) for point in itertools.product(*sizes)]
        return [points[place] for place in np.random.default_rng(seed).permutation(len(points))]


def _axis(name: str, given: Any, path: Path | None) -> list[Any] | Range:  # noqa: ANN401 -- what a user wrote
    check_settings({name: None}, path)
    values = _from_range(name, given, path) if isinstance(given, dict) else given
    if isinstance(values, Range):
        if SETTINGS[name].unsearched:
            raise FileError(f"{name} has a range; give one value in a list: {SETTINGS[name].unsearched}", path)
        return values
    if not isinstance(values, list) or not values:
        raise FileError(f"{name} is {given!r}; expected {_EXPECTED}", path)
    for place, value in enumerate(values):
        check_settings({name: value}, path)
        if value in values[:place]:
            raise FileError(f"{name} has the value {value!r} twice; name it once", path)
    if len(values) > 1 and SETTINGS[name].unsearched:
        raise FileError(f"{name} has {len(values)} values; give one: {SETTINGS[name].unsearched}", path)
    return sorted(values) if _ordered(values) else values


def _from_range(name: str, given: dict[str, Any], path: Path | None) -> list[Any] | Range:
    if not {"low", "high"} <= set(given) <= _RANGE or not isinstance(given.get("log", False), bool):
        raise FileError(f"{name} is {given!r}; expected {_EXPECTED}", path)
    low, high, step, log = given["low"], given["high"], given.get("step"), given.get("log", False)
    for bound in (low, high):
        check_settings({name: _number(name, bound, path)}, path)
    whole = SETTINGS[name].domain.type is int
    if not low < high or (log and not low > 0):
        raise FileError(
            f"{name} goes from {low!r} to {high!r}{', by log' if log else ''}; expected 0 < low < high", path
        )
    if step is None:
        return Range(low, high, log, whole)
    if log or not _number(name, step, path) > 0 or (whole and not isinstance(step, int)):
        raise FileError(
            f"{name} has the step {step!r}; expected a number above 0, whole as the bounds are, no log", path
        )
    count = int((high - low) / step + 1e-9) + 1
    return [low + place * step if whole else round(low + place * step, 12) for place in range(count)]


def _number(name: str, value: Any, path: Path | None) -> float:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileError(f"{name} has {value!r} in its range; expected a number", path)
    return value


def _ordered(values: list[Any]) -> bool:
    """Whether one of them lies between others: numbers, and sizes of layers."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return numbers or all(isinstance(value, list) for value in values)

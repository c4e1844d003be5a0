"""Figure 1 of the paper: what f, g and h learn of two rectangles that are nested, disjoint, and in between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from chmcnn.datasets.synthetic import Rectangle, two_rectangles
from chmcnn.experiments import _parts, batched
from chmcnn.experiments.two_rectangles import KINDS, Kind, corrected, delegated, train

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from chmcnn.nn import MLP

STEPS = {9: "nested", 1: "disjoint", 5: "half-way"}
"""The rows of the figure: steps of the smaller rectangle's way, and how the rectangles lie."""
SEED = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One position of the rectangles: probabilities over the unit square as (grid, grid, classes), with y first."""

    step: int
    rectangles: tuple[Rectangle, ...]
    alone: Mapping[Kind, NDArray[np.float32]]  # A and B; of g, A and B without A
    corrected: Mapping[Kind, NDArray[np.float32]]  # A and B of f+, g+ and C-HMCNN(h)
    delegated: float  # share of A's test points for which C-HMCNN(h) delegates B to A


@dataclass(frozen=True, slots=True)
class Figure1:
    """All of the figure."""

    rows: tuple[Row, ...]
    epochs: int


def run(
    folder: Path,
    *,
    epochs: int = 20_000,
    command: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Train the nine networks, and keep their weights; one file for each position of the rectangles."""
    parts = {_name(step): partial(_weights, step, epochs) for step in STEPS}
    settings = _coordinates() | {"epochs": epochs, "seed": SEED}
    _parts.run(folder, parts, settings=settings, steps=epochs * len(KINDS), command=command, progress=progress)


def collect(folder: Path) -> Figure1 | None:
    """What the networks in a folder say; None if they are not all there."""
    found = _parts.collect(folder, map(_name, STEPS), _coordinates())
    if len(found) < len(STEPS):
        return None
    rows = tuple(_row(step, networks(found[_name(step)])) for step in STEPS)
    return Figure1(rows, found[_name(9)]["settings"]["epochs"])


def networks(part: Mapping[str, Any]) -> dict[Kind, MLP]:
    """The networks of one position of the rectangles, each trained alone."""
    return {kind: batched.network(part["result"][kind]) for kind in KINDS}


def _name(step: int) -> str:
    return f"step{step}"


def _coordinates() -> dict[str, int | str]:
    return _parts.coordinates(*(two_rectangles(step, rows=1) for step in STEPS))


def _weights(step: int, epochs: int, advance: Callable[[], object]) -> dict[str, Any]:
    problem = two_rectangles(step, seed=SEED)
    return {
        kind: batched.weights(network)
        for kind in KINDS
        for network in train(kind, [problem], seeds=[SEED], epochs=epochs, progress=advance)
    }


def _row(step: int, networks: Mapping[Kind, MLP]) -> Row:
    problem = two_rectangles(step, seed=SEED)
    alone = {kind: batched.grid(network) for kind, network in networks.items()}
    return Row(
        step=step,
        rectangles=problem.rectangles,
        alone={kind: values.numpy() for kind, values in alone.items()},
        corrected={kind: corrected(kind, values, problem).numpy() for kind, values in alone.items()},
        delegated=delegated(networks["h"], problem),
    )

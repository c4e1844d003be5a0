"""Figure 1 of the paper: what f, g and h learn from two rectangles that are nested, disjoint, and in between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from chmcnn.datasets.synthetic import Rectangle, two_rectangles
from chmcnn.experiments import _parts, batched
from chmcnn.experiments.boundaries import draw_one
from chmcnn.experiments.section import Check, Picture, Section, SectionTable, new_figure
from chmcnn.experiments.two_rectangles import KINDS, SYSTEMS, Kind, corrected, delegated, train

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from chmcnn.experiments.context import Context
    from chmcnn.nn import MLP

STEPS = {9: "nested", 1: "disjoint", 5: "half-way"}
"""The rows of the figure: the step of the smaller rectangle, and the arrangement."""
SEED = 0


_PUBLISHED = {9: 0.0, 1: 1.0, 5: 0.85}
_NEAR = 0.05
_A, _B = 0, 1  # the order of the classes
_COLUMNS = {"f": ("f, A", "f, B"), "g": ("g, A", "g, B \\ A"), "h": ("h, A", "h, B")}


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
    """The results of the figure."""

    rows: tuple[Row, ...]
    epochs: int


def run(context: Context, *, epochs: int = 20_000) -> None:
    """Train the nine networks, and store their weights, one file for each position of the rectangles."""
    parts = {_name(step): partial(_weights, step, epochs) for step in STEPS}
    settings = _coordinates() | {"epochs": epochs, "seed": SEED}
    _parts.run(context, parts, settings=settings, steps=epochs * len(KINDS))


def collect(folder: Path) -> Figure1 | None:
    """Evaluate the networks in a folder; return None if some are missing."""
    parts = _parts.collect(folder, map(_name, STEPS), _coordinates())
    if len(parts) < len(STEPS):
        return None
    rows = tuple(_row(step, networks(parts[_name(step)])) for step in STEPS)
    return Figure1(rows, parts[_name(9)]["settings"]["epochs"])


def networks(part: Mapping[str, Any]) -> dict[Kind, MLP]:
    """Return the networks of one position of the rectangles."""
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


def section(result: Figure1) -> Section:
    """Turn the results into a section of the page."""
    return Section(
        name="figure1",
        title="Figure 1: decision boundaries of f, g and h",
        text=(
            "A is the smaller rectangle, B is both together. f learns A and B, g learns A and B without A, both with "
            "plain cross-entropy; h learns A and B with the paper's loss. Each network has one layer of 4 tanh units "
            f"and is trained for {result.epochs:,} full-batch steps of Adam at 0.01, on 2,500 of 5,000 points. "
            "C-HMCNN(h) delegates B to A at a point where h scores A above B. It should do so only where that helps. "
            "The share half-way depends on the coordinates of the rectangles, which the paper does not give: "
            "python -m benchmarks.rectangles tries 24 arrangements that match its description, and ours is like the "
            "one that comes closest to that share."
        ),
        command="chmcnn reproduce figure1",
        checks=tuple(_check(row.step, row.delegated) for row in result.rows),
        tables=(
            SectionTable(
                "Share of A's test points whose prediction for B is delegated to A",
                ("rectangles", "step", "published", "ours"),
                tuple((STEPS[row.step], row.step, _PUBLISHED[row.step], row.delegated) for row in result.rows),
                digits=2,
            ),
        ),
        pictures=(
            Picture(
                "figure1",
                "Decision boundaries of f, g and h, first run. Rows: rectangles nested, disjoint, half-way. Blue: the "
                "point belongs to the class; red: it does not. Darker colours: higher confidence.",
                _boundaries(result),
            ),
            Picture(
                "figure1-corrected",
                "Decision boundaries for B with the corrections, as in the paper's appendix.",
                _corrected(result),
            ),
        ),
    )


def _check(step: int, ours: float) -> Check:
    published = _PUBLISHED[step]
    depends = (
        "The share depends on the coordinates, which the paper does not give, and on the run; Figure 2 has the mean."
    )
    return Check(
        claim=f"B delegated to A, rectangles {STEPS[step]}: within {100 * _NEAR:.0f} points",
        published=f"{published:.0%}",
        ours=f"{ours:.1%}",
        agrees=abs(ours - published) <= _NEAR,
        why=depends if step == 5 else "",
    )


def _boundaries(result: Figure1) -> Figure:
    """Draw six columns as in the paper, with a colour scale at the end of each row."""
    figure = new_figure(13, 2.2 * len(result.rows) + 0.3)
    axes = figure.subplots(len(result.rows), 6)
    for line, row in zip(axes, result.rows, strict=True):
        shown = [row.alone[kind][..., at] for kind in KINDS for at in (_A, _B)]
        for axis, values in zip(line, shown, strict=True):
            image = draw_one(axis, values, row.rectangles)
        line[0].set_ylabel(STEPS[row.step])
        figure.colorbar(image, ax=line[-1], ticks=[0, 0.5, 1])
    for axis, title in zip(axes[0], (title for kind in KINDS for title in _COLUMNS[kind]), strict=True):
        axis.set_title(title)
    return figure


def _corrected(result: Figure1) -> Figure:
    figure = new_figure(8, 2.4 * len(KINDS) + 0.3)
    axes = figure.subplots(len(KINDS), len(result.rows))
    by_step = sorted(result.rows, key=lambda row: [1, 9, 5].index(row.step))  # the order of the appendix
    for line, kind in zip(axes, KINDS, strict=True):
        for axis, row in zip(line, by_step, strict=True):
            image = draw_one(axis, row.corrected[kind][..., _B], row.rectangles)
        line[0].set_ylabel(f"{SYSTEMS[kind]}, B")
    for axis, row in zip(axes[0], by_step, strict=True):
        axis.set_title(STEPS[row.step])
    figure.colorbar(image, ax=axes, shrink=0.6, aspect=30, ticks=[0, 0.5, 1])
    return figure

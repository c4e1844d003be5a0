"""The paper's nine rectangles: MCLoss against plain cross-entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle as Patch

from chmcnn.datasets.synthetic import nine_rectangles
from chmcnn.experiments.nine_rectangles import SHOWN
from chmcnn.report.boundaries import draw_one
from chmcnn.report.paper.section import Check, Picture, Section, Table, deviation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from chmcnn.datasets.synthetic import Rectangles
    from chmcnn.experiments.nine_rectangles import NineRectangles

_SYSTEMS = {"MCLoss": "C-HMCNN(h), MCLoss", "BCE": "h + MCM, cross-entropy"}
_PUBLISHED: dict[str, tuple[float, ...]] = {
    "MCLoss": (0.974, 0.007, 0.964, 0.975, 0.990),
    "BCE": (0.938, 0.038, 0.871, 0.945, 0.990),
}
_LEAST = 0.96
_NEAR = 0.01


def section(result: NineRectangles) -> Section:
    """All that is said of the nine rectangles."""
    ours = {name: _figures(values) for name, values in result.auprc.items()}
    return Section(
        name="nine-rectangles",
        title="Nine rectangles: the loss matters",
        text=(
            "Nine classes, one for each rectangle; A5 is an ancestor, and A3 a descendant, of all others. The same "
            "network of one layer of 7 tanh units with the constraint on top is trained with the paper's loss and with "
            f"plain cross-entropy, for {result.epochs:,} full-batch steps of Adam at 0.01, in "
            f"{len(result.auprc['BCE'])} runs, each with points and weights of its own."
        ),
        command="chmcnn reproduce nine-rectangles",
        checks=_checks(ours),
        tables=(
            Table(
                "AU(PRC) on the test points",
                ("system", "", "mean", "deviation", "least", "median", "greatest"),
                tuple(
                    (_SYSTEMS[name], whose, *figures[name])
                    for name in _SYSTEMS
                    for whose, figures in (("published", _PUBLISHED), ("ours", ours))
                ),
            ),
        ),
        pictures=(
            Picture(
                "nine-rectangles",
                f"The rectangles, and the decision boundaries for A5 of the {SHOWN}th best run with either loss.",
                _draw(result),
            ),
        ),
    )


def _figures(values: NDArray[np.float64]) -> tuple[float, ...]:
    """Mean, deviation, least, median, greatest."""
    measured = (values.mean(), deviation(values), values.min(), np.median(values), values.max())
    return tuple(float(value) for value in measured)


def _checks(ours: dict[str, tuple[float, ...]]) -> tuple[Check, ...]:
    mean, spread = ({name: figures[at] for name, figures in ours.items()} for at in (0, 1))
    apart = abs(mean["MCLoss"] - _PUBLISHED["MCLoss"][0])
    return (
        Check(
            "mean AU(PRC) with MCLoss: high",
            f"{_LEAST} or more",
            f"{mean['MCLoss']:.3f}",
            mean["MCLoss"] >= _LEAST,
            goal=True,
        ),
        Check(
            f"mean AU(PRC) with MCLoss: within {_NEAR}",
            "0.974",
            f"{mean['MCLoss']:.3f}",
            apart <= _NEAR,
            why="" if apart <= _NEAR else "not known: the paper does not tell how points and first weights were drawn",
        ),
        Check(
            "mean AU(PRC): MCLoss above cross-entropy",
            "0.974 against 0.938",
            f"{mean['MCLoss']:.3f} against {mean['BCE']:.3f}",
            mean["MCLoss"] > mean["BCE"],
        ),
        Check(
            "deviation: MCLoss below cross-entropy",
            "0.007 against 0.038",
            f"{spread['MCLoss']:.3f} against {spread['BCE']:.3f}",
            spread["MCLoss"] < spread["BCE"],
        ),
    )


def _draw(result: NineRectangles) -> Figure:
    problem = nine_rectangles(rows=1)
    figure = Figure(figsize=(9, 3.1), layout="constrained")
    arrangement, *boundaries = figure.subplots(1, 3)
    _draw_arrangement(arrangement, problem)
    for axis, name in zip(boundaries, ("BCE", "MCLoss"), strict=True):  # the order of the paper
        image = draw_one(axis, result.shown[name], problem.rectangles)
        axis.set_title(f"{_SYSTEMS[name]}, A5", fontsize=10)
    figure.colorbar(image, ax=boundaries[-1], ticks=[0, 0.5, 1])
    return figure


def _draw_arrangement(axis: Axes, problem: Rectangles) -> None:
    for name, shape in zip(problem.hierarchy.classes, problem.rectangles, strict=True):
        axis.add_patch(Patch((shape.left, shape.bottom), shape.width, shape.height, color="#4a7fb5", alpha=0.6))
        centre = (shape.left + shape.width / 2, shape.bottom + shape.height / 2)
        axis.annotate(name.removeprefix("A"), centre, ha="center", va="center")
    axis.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal", facecolor="#fbe9e7")
    axis.set_title("rectangles", fontsize=10)

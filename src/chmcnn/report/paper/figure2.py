"""Figure 2 of the paper: AU(PRC) while the smaller rectangle moves into the bigger one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from chmcnn.experiments.two_rectangles import SYSTEMS
from chmcnn.report.paper.section import Check, Picture, Section, Table

if TYPE_CHECKING:
    from chmcnn.experiments.figure2 import Figure2

_NEAR = 0.02


def section(result: Figure2) -> Section:
    """All that is said of Figure 2."""
    steps, runs = result.delegated.shape
    return Section(
        name="figure2",
        title="Figure 2: one rectangle moves into the other",
        text=(
            f"The smaller rectangle moves from outside the bigger one (step 1) to its centre (step {steps}); the "
            f"networks are those of Figure 1, trained for {result.epochs:,} steps in {runs} runs, each with points and "
            "weights of its own. f+ is f with A lowered to B where it is above, g+ and C-HMCNN(h) raise B to A."
        ),
        command="chmcnn reproduce figure2",
        checks=(_as_good_as_the_better(result),),
        tables=(_means(result),),
        pictures=(
            Picture(
                "figure2", f"Mean AU(PRC) of {runs} runs at each step, with the standard deviation.", _draw(result)
            ),
        ),
    )


def _as_good_as_the_better(result: Figure2) -> Check:
    mean = {kind: values.mean(axis=1) for kind, values in result.auprc.items()}
    ahead = mean["h"] - np.maximum(mean["f"], mean["g"])
    worst = int(ahead.argmin())
    return Check(
        claim=f"C-HMCNN(h) at every step: at most {_NEAR} below the better of f+ and g+",
        published="good at all steps",
        ours=f"{ahead[worst]:+.3f} at step {worst + 1}, where it does worst against them",
        agrees=bool(ahead[worst] >= -_NEAR),
    )


def _means(result: Figure2) -> Table:
    columns = [(SYSTEMS[kind], values) for kind, values in result.auprc.items()]
    return Table(
        "Mean AU(PRC) and standard deviation by step",
        ("step", *(name for system, _ in columns for name in (system, f"{system} deviation")), "delegated"),
        tuple(
            (
                step + 1,
                *(float(of(values[step])) for _, values in columns for of in (np.mean, np.std)),
                float(result.delegated[step].mean()),
            )
            for step in range(len(result.delegated))
        ),
        note="Delegated: share of A's test points whose prediction for B C-HMCNN(h) delegates to A, mean of all runs.",
    )


def _draw(result: Figure2) -> Figure:
    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axis = figure.subplots()
    steps = np.arange(1, len(result.delegated) + 1)
    for kind, values in result.auprc.items():
        mean, deviation = values.mean(axis=1), values.std(axis=1)
        (line,) = axis.plot(steps, mean, marker="o", markersize=4, label=SYSTEMS[kind])
        axis.fill_between(steps, mean - deviation, mean + deviation, color=line.get_color(), alpha=0.15, linewidth=0)
    axis.set(xlabel="step", ylabel="AU(PRC)", xticks=steps)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    return figure

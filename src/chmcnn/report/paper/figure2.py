"""Figure 2 of the paper: AU(PRC) while the smaller rectangle moves into the bigger one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from chmcnn.experiments.two_rectangles import SYSTEMS
from chmcnn.report.paper.section import Check, Picture, Section, Table, deviation

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
        checks=(_as_good_as_the_better(result), _f_poor_while_apart(result), _g_decays(result)),
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


def _f_poor_while_apart(result: Figure2) -> Check:
    mean = result.auprc["f"].mean(axis=1)
    return Check(
        claim="f+ at steps 1 to 3: below f+ at every step from 6 on",
        published="poor at steps 1 to 3, good from step 6",
        ours=f"at most {mean[:3].max():.3f}, and at least {mean[5:].min():.3f} from step 6",
        agrees=bool(mean[:3].max() < mean[5:].min()),
    )


def _g_decays(result: Figure2) -> Check:
    mean = result.auprc["g"].mean(axis=1)
    return Check(
        claim="g+ from step 6 on: falling from step to step",
        published="good up to step 5, decaying from step 6",
        ours=f"{mean[4]:.3f} at step 5, then " + ", ".join(f"{value:.3f}" for value in mean[5:]),
        agrees=bool((np.diff(mean[4:]) < 0).all()),
    )


def _means(result: Figure2) -> Table:
    columns = [(SYSTEMS[kind], values) for kind, values in result.auprc.items()]
    return Table(
        "Mean AU(PRC) and standard deviation by step",
        ("step", *(name for system, _ in columns for name in (system, f"{system} deviation")), "delegated"),
        tuple(
            (
                step + 1,
                *(float(of(values[step])) for _, values in columns for of in (np.mean, deviation)),
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
        mean, around = values.mean(axis=1), deviation(values)
        (line,) = axis.plot(steps, mean, marker="o", markersize=4, label=SYSTEMS[kind])
        axis.fill_between(steps, mean - around, mean + around, color=line.get_color(), alpha=0.15, linewidth=0)
    axis.set(xlabel="step", ylabel="AU(PRC)", xticks=steps)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    return figure

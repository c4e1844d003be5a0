"""Figure 2 of the paper: C-HMCNN(h), f+ and g+ while the smaller rectangle moves into the larger one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from chmcnn.datasets.synthetic import STEPS, two_rectangles
from chmcnn.experiments import _parts
from chmcnn.experiments.section import Check, Picture, Section, SectionTable, deviation, new_figure
from chmcnn.experiments.two_rectangles import KINDS, SYSTEMS, Kind, auprc, delegated, train

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from chmcnn.experiments.context import Context

_NEAR = 0.02


@dataclass(frozen=True, slots=True)
class Figure2:
    """AU(PRC) on the test points of each kind with its correction, and the share delegated: (steps, runs)."""

    auprc: Mapping[Kind, NDArray[np.float64]]
    delegated: NDArray[np.float64]  # of the test points of A, the prediction for B of C-HMCNN(h)
    epochs: int


def run(context: Context, *, epochs: int = 20_000, runs: int = 10) -> None:
    """Train networks of all kinds at each step, each run with its own points and weights; store one file per step."""
    parts = {name: partial(_measure, step, epochs, runs) for step, name in _names().items()}
    settings = _coordinates() | {"epochs": epochs, "runs": runs}
    _parts.run(context, parts, settings=settings, steps=epochs * len(KINDS))


def collect(folder: Path) -> Figure2 | None:
    """Read the results in a folder; return None if some are missing."""
    parts = list(_parts.collect(folder, _names().values(), _coordinates()).values())
    if len(parts) < STEPS:
        return None
    results = [part["result"] for part in parts]
    return Figure2(
        auprc={kind: np.array([result["auprc"][kind] for result in results]) for kind in KINDS},
        delegated=np.array([result["delegated"] for result in results]),
        epochs=parts[0]["settings"]["epochs"],
    )


def _names() -> dict[int, str]:
    return {step: f"step{step}" for step in range(1, STEPS + 1)}


def _coordinates() -> dict[str, int | str]:
    return _parts.coordinates(*(two_rectangles(step, rows=1) for step in _names()))


def _measure(step: int, epochs: int, runs: int, advance: Callable[[], object]) -> dict[str, Any]:
    seeds = range(runs)
    problems = [two_rectangles(step, seed=seed) for seed in seeds]
    networks = {kind: train(kind, problems, seeds=seeds, epochs=epochs, progress=advance) for kind in KINDS}
    return {
        "seeds": list(seeds),
        "auprc": {kind: [auprc(kind, *pair) for pair in zip(networks[kind], problems, strict=True)] for kind in KINDS},
        "delegated": [delegated(*pair) for pair in zip(networks["h"], problems, strict=True)],
    }


def section(result: Figure2) -> Section:
    """Turn the results into a section of the page."""
    steps, runs = result.delegated.shape
    return Section(
        name="figure2",
        title="Figure 2: one rectangle moves into the other",
        text=(
            f"The smaller rectangle moves from outside the larger one (step 1) to its centre (step {steps}); the "
            f"networks are those of Figure 1, trained for {result.epochs:,} steps in {runs} runs, each with its own "
            "points and weights. f+ lowers the score of A to that of B; g+ and C-HMCNN(h) raise that of B to that of A."
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
        ours=f"{ahead[worst]:+.3f} at step {worst + 1}, its worst step",
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


def _means(result: Figure2) -> SectionTable:
    columns = [(SYSTEMS[kind], values) for kind, values in result.auprc.items()]
    return SectionTable(
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
        note="Delegated: share of A's test points where C-HMCNN(h) delegates B to A, mean of all runs.",
    )


def _draw(result: Figure2) -> Figure:
    figure = new_figure(6.4, 4)
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

"""Pictures of a training and of what came of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chmcnn.evaluation import Evaluation
    from chmcnn.training import Epoch

_BLUE, _ORANGE = "#3b6fa0", "#d9822b"


def draw_history(history: Sequence[Epoch]) -> Figure:
    """The loss, and the validation score, by epoch; the best epoch is marked."""
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    axis = figure.subplots()
    epochs = [epoch for epoch in history if epoch.phase == "train"]
    numbers = [epoch.number for epoch in epochs]
    axis.plot(numbers, [epoch.loss for epoch in epochs], color=_BLUE)
    axis.set_xlabel("epoch")
    axis.set_ylabel("training loss", color=_BLUE)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.spines["top"].set_visible(False)
    if epochs and not math.isnan(epochs[0].score):
        other = axis.twinx()
        other.plot(numbers, [epoch.score for epoch in epochs], color=_ORANGE)
        sample = f" of {epochs[0].sampled:,} rows" if epochs[0].sampled else ""
        other.set_ylabel(f"validation AU(PRC){sample}", color=_ORANGE)
        other.spines["top"].set_visible(False)
        other.axvline(epochs[-1].best, color="0.5", linestyle=":", linewidth=1)
        axis.set_title(f"best epoch: {epochs[-1].best}", fontsize=10)
    return figure


def draw_curve(evaluation: Evaluation) -> Figure:
    """The precision-recall curve."""
    figure = Figure(figsize=(4.4, 3.6), layout="constrained")
    axis = figure.subplots()
    axis.plot(evaluation.curve.recall, evaluation.curve.precision, color=_BLUE)
    axis.fill_between(evaluation.curve.recall, evaluation.curve.precision, color=_BLUE, alpha=0.12)
    axis.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
    axis.set_title(f"AU(PRC) {evaluation.auprc.value:.3f}", fontsize=10)
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def draw_levels(evaluation: Evaluation) -> Figure:
    """The score of each level of the hierarchy."""
    figure = Figure(figsize=(4.4, 3.6), layout="constrained")
    axis = figure.subplots()
    values = [level.auprc for level in evaluation.levels.values()]
    drawn = axis.bar(list(evaluation.levels), [0 if math.isnan(value) else value for value in values], color=_BLUE)
    labels = ["-" if math.isnan(value) else f"{value:.2f}" for value in values]
    axis.bar_label(drawn, labels=labels, fontsize=8, padding=2)
    axis.set(xlabel="level of the hierarchy", ylabel="AU(PRC)", ylim=(0, 1.08))
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.spines[["top", "right"]].set_visible(False)
    return figure

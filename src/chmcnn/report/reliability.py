"""Pictures of calibration: what is said and what is true."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from chmcnn.estimator import Trust
    from chmcnn.metrics import Reliability

_BLUE, _GREY = "#3b6fa0", "0.6"
_COLUMNS = 4
_FEWEST = 10
"""Pairs of a row and a class that a point stands for, at least: the share of fewer says little."""


def draw_reliability(trust: Trust) -> Figure:
    """The share of true pairs by probability, a plot for each level; before the calibration as well."""
    columns = min(len(trust.levels), _COLUMNS)
    rows = math.ceil(len(trust.levels) / columns)
    figure = Figure(figsize=(2.5 * columns + 0.4, 2.6 * rows + 0.4), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axis, (level, found) in zip(axes, trust.levels.items(), strict=False):
        axis.plot([0, 1], [0, 1], color="0.8", linewidth=1)
        before = trust.before.get(level)
        if before is not None:
            _plot(axis, before, _GREY, "before")
        _plot(axis, found, _BLUE, "after" if before is not None else None)
        change = f"{before.error:.4f} to " if before is not None else ""
        axis.set_title(f"level {level}: error {change}{found.error:.4f}", fontsize=8)
        axis.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[len(trust.levels) :]:
        axis.set_visible(False)
    if trust.before:
        axes[0].legend(fontsize=8, frameon=False)
    figure.supxlabel("probability", fontsize=10)
    figure.supylabel("share that is true", fontsize=10)
    return figure


def _plot(axis: Axes, found: Reliability, color: str, label: str | None) -> None:
    shown = found.cells >= _FEWEST
    said, true = (part[shown] / found.cells[shown] for part in (found.probabilities, found.positives))
    axis.plot(said, true, color=color, marker="o", markersize=3, linewidth=1, label=label)

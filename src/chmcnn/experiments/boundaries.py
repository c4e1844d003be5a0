"""Decision boundaries over the unit square."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn.experiments.section import new_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from numpy.typing import NDArray

    from chmcnn.datasets.synthetic import Rectangle
    from chmcnn.experiments.two_rectangles import Result


def draw(results: Sequence[Result]) -> Figure:
    """Draw one row per result: A and B of the network, and B with the constraint."""
    figure = new_figure(8.6, 2.55 * len(results) + 0.5)
    axes = figure.subplots(len(results), 3, squeeze=False, sharex=True, sharey=True)
    for row, result in zip(axes, results, strict=True):
        a, b = (result.problem.hierarchy.index(name) for name in "AB")
        shown = (result.h[..., a], result.h[..., b], result.constrained[..., b])
        for axis, values in zip(row, shown, strict=True):
            image = draw_one(axis, values, result.problem.rectangles)
        row[0].set_ylabel(f"{result.delegated:.0%} of A delegated", fontsize=11)
    for axis, title in zip(axes[0], ("network h, class A", "network h, class B", "constrained, class B"), strict=True):
        axis.set_title(title, fontsize=11)
    bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=30, ticks=[0, 0.5, 1])
    bar.set_label("predicted probability")
    return figure


def draw_one(axis: Axes, values: NDArray[np.floating], rectangles: Sequence[Rectangle]) -> AxesImage:
    """Draw probabilities over the unit square in blue and red, the boundary at 0.5, and the rectangles in yellow."""
    from matplotlib.patches import Rectangle as Patch

    image = axis.imshow(values, origin="lower", extent=(0, 1, 0, 1), cmap="RdBu", vmin=0, vmax=1)
    if values.min() < 0.5 < values.max():
        axis.contour(values, levels=[0.5], extent=(0, 1, 0, 1), colors="black", linewidths=0.8)
    for shape in rectangles:
        corner = (shape.left, shape.bottom)
        axis.add_patch(Patch(corner, shape.width, shape.height, fill=False, edgecolor="gold", linewidth=2))
    axis.set(xticks=[], yticks=[])
    return image

"""A data set at a glance: its hierarchy, and how many rows its classes have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogFormatter

from chmcnn import _wording

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from chmcnn._typing import LabelsLike
    from chmcnn.datasets.dataset import Table
    from chmcnn.hierarchy import Hierarchy

_BINS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000)
NAMED_AT_MOST = 40
"""Maximum number of classes whose names a picture can show."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What is drawn: a place for each class, and its number of rows."""

    title: str
    hierarchy: Hierarchy
    places: NDArray[np.float64]  # (classes, 2), the roots on top
    sizes: NDArray[np.int64]  # (classes,) rows that have the class
    counted: NDArray[np.bool_]  # (classes,) whether it is evaluated


def overview(title: str, table: Table, evaluated: NDArray[np.bool_]) -> Overview:
    """Compute what is drawn of a table."""
    return Overview(title, table.hierarchy, place(table.hierarchy), count_rows(table.Y), evaluated)


def count_rows(Y: LabelsLike) -> NDArray[np.int64]:
    """Count the rows of each class."""
    return np.asarray(Y.sum(axis=0)).ravel().astype(np.int64)


def place(hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Places of the classes as in a tree: below a parent of theirs, beside siblings, leaves at equal distances."""
    below = span(hierarchy)
    x = np.zeros(len(hierarchy))
    leaves = 0
    stack = [(hierarchy.index(root), False) for root in reversed(hierarchy.roots)]
    while stack:
        node, done = stack.pop()
        if done:
            x[node] = (x[below[node][0]] + x[below[node][-1]]) / 2
        elif below[node]:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(below[node]))
        else:
            x[node] = leaves
            leaves += 1
    return np.stack((x / max(leaves - 1, 1), -hierarchy.depths.astype(np.float64)), axis=1)


def span(hierarchy: Hierarchy) -> list[list[int]]:
    """Return the children of each class in a tree that has all classes, each below one of its deepest parents."""
    below: list[list[int]] = [[] for _ in hierarchy.classes]
    depths = hierarchy.depths.tolist()
    placed = set()
    for parent, child in hierarchy.edges.tolist():
        if depths[child] == depths[parent] + 1 and child not in placed:  # each has at least one such parent
            placed.add(child)
            below[parent].append(child)
    return below


def draw(shown: Overview) -> Figure:
    """Draw the hierarchy on the left, the class sizes on the right."""
    figure = Figure(figsize=(12, 5.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2.1, 1))
    _draw_hierarchy(left, shown)
    _draw_sizes(right, shown.sizes[shown.counted])
    figure.suptitle(_wording.make_printable(shown.title), fontsize=13, fontweight="bold")
    return figure


def draw_sizes(sizes: NDArray[np.int64], rows: str = "training rows") -> Figure:
    """Draw the class sizes alone."""
    figure = Figure(figsize=(5.6, 4.2), layout="constrained")
    _draw_sizes(figure.subplots(), sizes, rows)
    return figure


def _draw_hierarchy(axis: Axes, shown: Overview) -> None:
    hierarchy, places = shown.hierarchy, shown.places
    crowd = len(hierarchy)
    strength = float(np.clip(15 / np.sqrt(max(len(hierarchy.edges), 1)), 0.1, 0.8))
    lines = LineCollection(
        list(places[hierarchy.edges]), colors="0.45", linewidths=min(0.9, 2 * strength), alpha=strength, zorder=1
    )
    axis.add_collection(lines)
    size = np.log10(np.maximum(shown.sizes, 1)) + 0.3
    drawn = axis.scatter(
        places[:, 0],
        places[:, 1],
        s=size**2 * float(np.clip(1200 / crowd, 2.5, 40)),
        c=np.maximum(shown.sizes, 0.5),
        norm="log",
        cmap="viridis_r",
        linewidths=0,
        zorder=2,
    )
    figure = cast("Figure", axis.figure)
    bar = figure.colorbar(drawn, ax=axis, label="rows of the class", shrink=0.7, aspect=30, pad=0.01, format="{x:,.0f}")
    bar.ax.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.4)))
    if crowd <= NAMED_AT_MOST:
        _name(axis, (_wording.make_printable(hierarchy.title(name)) for name in hierarchy), places)
    axis.set_title(repr(hierarchy).removeprefix("Hierarchy(").removesuffix(")"), fontsize=11)
    axis.set(xticks=[], yticks=range(-hierarchy.depth, 1), ylabel="level", xlim=(-0.05, 1.05))
    axis.set_yticklabels([str(level) for level in range(hierarchy.depth, -1, -1)])
    axis.set_ylim(-hierarchy.depth - 0.6, 0.6)
    axis.spines[:].set_visible(False)


def _name(axis: Axes, names: Iterable[str], places: NDArray[np.float64]) -> None:
    heights: dict[float, int] = {}
    for (x, y), name in sorted(zip(places.tolist(), names, strict=True)):
        heights[y] = 22 if heights.get(y, 22) == 10 else 10  # neighbours at two heights do not hide each other
        text = axis.annotate(
            name if len(name) <= 24 else f"{name[:22]}…",
            (x, y),
            xytext=(0, -heights[y]),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=9,
            parse_math=False,
        )
        text.set_path_effects([withStroke(linewidth=3, foreground="white")])


def histogram(sizes: NDArray[np.int64]) -> list[tuple[str, int]]:
    """Count classes by their number of rows, in growing ranges; the last one is open.

    >>> histogram(np.array([0, 1, 3, 4, 7]))
    [('0', 1), ('1', 1), ('2-4', 2), ('5-9', 1)]
    >>> histogram(np.array([70, 200_000]))[::8]
    [('50-99', 1), ('100,000 and more', 1)]
    """
    if not sizes.size:
        return [("0", 0)]
    first = int(np.searchsorted(_BINS, sizes.min(initial=_BINS[-1]), side="right")) - 1
    last = int(np.searchsorted(_BINS, sizes.max(initial=0), side="right"))
    edges = [*_BINS[first:last], np.inf]
    counts, _ = np.histogram(sizes, bins=edges)
    ends = [*(int(edge) - 1 for edge in edges[1:-1]), _BINS[last] - 1 if last < len(_BINS) else None]
    labels = [
        f"{start:,}" if start == end else f"{start:,}-{end:,}" if end else f"{start:,} and more"
        for start, end in zip(edges[:-1], ends, strict=True)
    ]
    return list(zip(labels, counts.tolist(), strict=True))


def _draw_sizes(axis: Axes, sizes: NDArray[np.int64], rows: str = "training rows") -> None:
    bars = histogram(sizes)
    labels, counts = zip(*bars, strict=True)
    drawn = axis.barh(range(len(bars)), counts, color="#3b6fa0")
    axis.bar_label(drawn, labels=[f"{count:,}" if count else "" for count in counts], padding=3, fontsize=9)
    axis.set_yticks(range(len(bars)), labels)
    axis.invert_yaxis()
    axis.margins(x=0.15)
    axis.set(xlabel="classes", ylabel=f"{rows} of a class")
    axis.set_title(f"sizes of {_wording.count(len(sizes), 'class')}", fontsize=11)
    axis.spines[["top", "right"]].set_visible(False)

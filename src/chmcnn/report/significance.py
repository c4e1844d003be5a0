"""The critical-difference diagram: average ranks of systems, and which of them do not differ significantly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from chmcnn.significance import Nemenyi

# All lengths are in inches: texts then stay apart, however many and however long the names are.
_SCALE = 4.4  # the length of the axis of ranks
_MARGIN = 0.42  # to the ends of the lines on either side; the ranks stand there
_GAP = 0.06  # between a line and its name
_EDGE = 0.08
_TOP = 0.74  # what stands above the axis: its numbers, and the critical difference
_BAR = 0.11  # between bars
_ROW = 0.24  # between names
_BLUE, _GREY = "#3b6fa0", "0.35"


def draw(result: Nemenyi) -> Figure:
    """Draw systems by their average ranks, the best on the left; a bar joins those that do not differ significantly."""
    ordered = result.ranks.sort_values(kind="stable")
    spans = [(float(ordered[group[0]]), float(ordered[group[-1]])) for group in result.groups]
    inch = _SCALE / (len(ordered) - 1)  # of one rank
    levels = stack([((first - 1) * inch, (last - 1) * inch) for first, last in spans])
    half = (len(ordered) + 1) // 2
    below = _BAR * (max(levels, default=-1) + 1) + _ROW  # from the axis to the first name
    height = _EDGE + _TOP + below + _ROW * (half - 1) + _ROW / 2

    figure = Figure()
    axis = figure.add_axes((0, 0, 1, 1))
    names = [axis.text(0, 0, str(name), fontsize=10, va="center", parse_math=False) for name in ordered.index]
    left = _EDGE + max(_width(name) for name in names[:half]) + _GAP + _MARGIN
    beside = _MARGIN + _GAP + max(_width(name) for name in names[half:])
    right = max(beside, result.critical_difference * inch - _SCALE) + _EDGE  # few data sets: it is longer than the axis
    figure.set_size_inches(left + _SCALE + right, height)
    axis.set(xlim=(-left, _SCALE + right), ylim=(_EDGE + _TOP - height, _EDGE + _TOP))  # the origin: rank 1
    axis.axis("off")

    _draw_scale(axis, result, inch)
    for (first, last), level in zip(spans, levels, strict=True):
        y = -_BAR * (level + 1)
        ends = ((first - 1) * inch - 0.04, (last - 1) * inch + 0.04)
        axis.plot(ends, (y, y), color=_BLUE, linewidth=4, solid_capstyle="butt", zorder=3)
    for place, (text, rank) in enumerate(zip(names, ordered.tolist(), strict=True)):
        on_left = place < half
        row = place if on_left else len(ordered) - 1 - place
        _draw_system(axis, text, rank, ((rank - 1) * inch, -below - _ROW * row), on_left=on_left)
    return figure


def stack(spans: Sequence[tuple[float, float]]) -> list[int]:
    """Level of each bar, the lowest where it touches no other; bars come by their left ends.

    >>> stack([(0, 1), (0.9, 2), (1.5, 3)])
    [0, 1, 0]
    """
    ends: list[float] = []
    levels = []
    for first, last in spans:
        level = next((level for level, end in enumerate(ends) if first - end > 0.2), len(ends))
        ends[level : level + 1] = [last]
        levels.append(level)
    return levels


def _width(text: Text) -> float:
    """In inches."""
    figure = text.get_figure(root=True)
    return float(text.get_window_extent().width / figure.dpi) if figure else 0.0


def _draw_scale(axis: Axes, result: Nemenyi, inch: float) -> None:
    """The axis of ranks, and above it the critical difference at the same scale."""
    axis.plot((0, _SCALE), (0, 0), color="black", linewidth=1)
    systems = len(result.ranks)
    for rank in range(1, systems + 1, -(-systems // 20)):
        axis.plot(((rank - 1) * inch,) * 2, (0, 0.06), color="black", linewidth=1)
        axis.text((rank - 1) * inch, 0.1, str(rank), ha="center", fontsize=9)
    ends, y = (0, result.critical_difference * inch), 0.46
    axis.plot(ends, (y, y), color="black", linewidth=1.5, marker="|", markersize=7, markeredgewidth=1.5)
    axis.text(
        0, y + 0.12, f"critical difference {result.critical_difference:.3f} at level {result.alpha:g}", fontsize=9
    )
    axis.text(_SCALE, y + 0.12, "average rank (1 is best)", ha="right", fontsize=9)


def _draw_system(axis: Axes, text: Text, rank: float, corner: tuple[float, float], *, on_left: bool) -> None:
    """A line from the rank down to a corner and out to the name, with the rank above its end."""
    x, y = corner
    end = -_MARGIN if on_left else _SCALE + _MARGIN
    axis.plot((x, x, end), (0, y, y), color=_GREY, linewidth=0.9, zorder=2)
    text.set(x=end + (-_GAP if on_left else _GAP), y=y, ha="right" if on_left else "left")
    shown = f"{rank + 1e-9:.2f}"  # 3.925 is 3.93, as in the paper
    axis.text(end, y + 0.025, shown, ha="left" if on_left else "right", fontsize=8, color=_GREY)

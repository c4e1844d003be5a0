"""A clustering tree as a picture: the root on the left, one line of text for each leaf on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from chmcnn.baselines import Node

# All lengths are in inches: texts then stay apart, however large the tree is.
_LETTER = 0.085  # at most, of the width of a letter
_LINE = 0.3  # between leaves
_BRANCH = 0.5  # from a rule to the next, where its answer stands
_EDGE = 0.15
_BLUE, _GREY = "#3b6fa0", "0.35"


def draw(root: Node) -> Figure:
    """Draw what ``rules`` of `chmcnn.baselines.ClusHMC` gives; ``max_depth=3`` or so keeps it to a page.

    >>> from chmcnn.baselines import Node
    >>> tree = Node(9, (), "size <= 2", Node(5, (("small", 0.9),)), Node(4, (("large", 1.0),)))
    >>> [text.get_text() for text in draw(tree).axes[0].texts]
    ['5 rows: small 0.90', 'yes', '4 rows: large 1.00', 'no', 'size <= 2']
    """
    figure = Figure()
    axis = figure.add_axes((0, 0, 1, 1))
    width, leaves = _draw(axis, root, 0.0, 0)[1:]
    size = (width + 2 * _EDGE, leaves * _LINE + 2 * _EDGE)
    figure.set_size_inches(*size)
    axis.set(xlim=(-_EDGE, width + _EDGE), ylim=(leaves * _LINE - _LINE / 2 + _EDGE, -_LINE / 2 - _EDGE))
    axis.axis("off")
    return figure


def _draw(axis: Axes, node: Node, x: float, leaf: int) -> tuple[float, float, int]:
    """Draw a node at x, its first leaf on this line. Its height, the end of its longest line, and its leaves so far."""
    text = node.rule or node.label()
    end = x + len(text) * _LETTER
    if node.yes is None or node.no is None:
        y = leaf * _LINE
        axis.text(x, y, text, fontsize=9, va="center", color=_GREY, parse_math=False)
        return y, end, leaf + 1
    heights, widest = [], end
    for answer, below in (("yes", node.yes), ("no", node.no)):
        height, width, leaf = _draw(axis, below, end + _BRANCH, leaf)
        axis.plot((end + 0.05, end + _BRANCH - 0.05), (height, height), color=_BLUE, linewidth=1)
        axis.text(end + _BRANCH / 2, height, answer, fontsize=7, ha="center", va="bottom", color=_BLUE)
        heights.append(height)
        widest = max(widest, width)
    axis.plot((end + 0.05, end + 0.05), heights, color=_BLUE, linewidth=1)
    y = sum(heights) / 2
    axis.text(x, y, text, fontsize=9, va="center", fontweight="bold", parse_math=False)
    return y, widest, leaf

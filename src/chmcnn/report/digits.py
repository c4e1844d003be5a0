"""Digits and what a model says of them: one walked through the hierarchy, one of each kind, and the least sure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib.figure import Figure

from chmcnn.report.overview import place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from chmcnn.estimator import Explanation
    from chmcnn.hierarchy import Hierarchy

_GREEN, _RED, _BLUE, _GREY = "#1a7a3a", "#b3261e", "#1f5a94", "0.72"


def choose(hierarchy: Hierarchy, truth: NDArray[np.bool_], scores: NDArray[np.floating]) -> int:
    """Return the first row whose digit is right, of those with most shapes in them: it is walked through."""
    digits = _find_digits(hierarchy)
    right = scores[:, digits].argmax(axis=1) == truth[:, digits].argmax(axis=1)
    return int(np.argmax(truth.sum(axis=1) * right))


def draw(
    explanation: Explanation,
    walked: int,
    pictures: NDArray[np.float64],
    truth: NDArray[np.bool_],
    scores: NDArray[np.floating],
) -> Figure:
    """Draw a digit beside the predicted part of the hierarchy, and below the first picture of each digit.

    ``explanation`` is that of the row ``walked``. The last two pictures are those that the model is least sure of.
    """
    hierarchy = explanation.hierarchy
    figure = Figure(figsize=(12, 11.2), layout="constrained")
    top, below = cast("NDArray[Any]", figure.subfigures(2, 1, height_ratios=(1, 1.3)))
    left, right = top.subplots(1, 2, width_ratios=(1, 3.1))
    top.suptitle("A test picture walked through the hierarchy: what is predicted, and who decides", fontweight="bold")
    left.imshow(pictures[walked].reshape(8, 8), cmap="gray_r")
    left.set(xticks=[], yticks=[])
    _draw_walk(right, explanation)
    digits = _find_digits(hierarchy)
    true, sure = truth[:, digits].argmax(axis=1), scores[:, digits].max(axis=1)
    rows = [*(int(np.flatnonzero(true == digit)[0]) for digit in range(10)), *np.argsort(sure)[:2].tolist()]
    for axis, row in zip(below.subplots(2, 6).flat, rows, strict=True):
        _draw_digit(axis, hierarchy, pictures[row], int(true[row]), scores[row])
    below.suptitle("The first test picture of each digit, and the two that the model is least sure of")
    return figure


def _find_digits(hierarchy: Hierarchy) -> list[int]:
    return [hierarchy.index(str(digit)) for digit in range(10)]


def _draw_digit(
    axis: Axes, hierarchy: Hierarchy, picture: NDArray[np.float64], true: int, scores: NDArray[np.floating]
) -> None:
    """Draw a picture, the digit that is said above it, and the most likely shapes below it."""
    digits = _find_digits(hierarchy)
    said = int(scores[digits].argmax())
    axis.imshow(picture.reshape(8, 8), cmap="gray_r")
    axis.set(xticks=[], yticks=[])
    axis.set_title(f"{said}  ({scores[digits].max():.2f})", color=_GREEN if said == true else _RED, fontweight="bold")
    shapes = sorted(set(range(len(hierarchy))) - set(digits), key=lambda at: -scores[at])[:4]
    axis.set_xlabel("\n".join(f"{hierarchy.classes[at]}  {scores[at]:.2f}" for at in shapes), fontsize=9)


def _draw_walk(axis: Axes, explanation: Explanation) -> None:
    """Draw the hierarchy from left to right, with the predicted part in colour."""
    hierarchy, places = explanation.hierarchy, _spread(explanation.hierarchy)
    reasons = {reason.name: reason for reason in explanation.reasons}
    for parent, child in hierarchy.edges.tolist():
        walked = hierarchy.classes[parent] in reasons and hierarchy.classes[child] in reasons
        x, y = places[[parent, child]].T
        axis.plot(x, y, color=_BLUE if walked else _GREY, linewidth=2.2 if walked else 0.7, zorder=2 if walked else 1)
    for at, name in enumerate(hierarchy.classes):
        reason = reasons.get(name)
        box = {"boxstyle": "round,pad=0.35", "facecolor": _BLUE if reason else "white", "edgecolor": _GREY}
        text = name
        if reason:
            text += f"  {reason.score:.2f}" + ("" if reason.delegate == name else f"\ndecided by {reason.delegate}")
        x, y = places[at].tolist()
        axis.text(x, y, text, ha="center", va="center", fontsize=9, color="white" if reason else "0.35", bbox=box)
    axis.set(xlim=(-0.35, hierarchy.depth + 0.2), ylim=(-0.06, 1.06))
    axis.axis("off")


def _spread(hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return a place for each class: its level from the left, the classes of a level at equal distances."""
    down, _ = place(hierarchy).T
    places = np.stack((hierarchy.depths.astype(np.float64), down), axis=1)
    for level in range(hierarchy.depth + 1):
        of = np.flatnonzero(hierarchy.depths == level)
        places[of[np.argsort(down[of], kind="stable")], 1] = (np.arange(len(of))[::-1] + 0.5) / len(of)
    return places

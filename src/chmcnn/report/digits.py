"""Some digits with what a model says of them: one of each kind, and the least sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy


def draw(
    hierarchy: Hierarchy, pictures: NDArray[np.float64], truth: NDArray[np.bool_], scores: NDArray[np.floating]
) -> Figure:
    """Draw the first picture of each digit, and the two that the model is least sure of, with their scores."""
    digits = [hierarchy.index(str(digit)) for digit in range(10)]
    said, true = scores[:, digits].argmax(axis=1), truth[:, digits].argmax(axis=1)
    sure = scores[:, digits].max(axis=1)
    least = np.argsort(sure)[:2]
    rows = [*(int(np.flatnonzero(true == digit)[0]) for digit in range(10)), *least.tolist()]
    figure = Figure(figsize=(12, 6.4), layout="constrained")
    for axis, row in zip(figure.subplots(2, 6).flat, rows, strict=True):
        axis.imshow(pictures[row].reshape(8, 8), cmap="gray_r")
        axis.set(xticks=[], yticks=[])
        right = said[row] == true[row]
        axis.set_title(f"{said[row]}  ({sure[row]:.2f})", color="#1a7a3a" if right else "#b3261e", fontweight="bold")
        shapes = [at for at in range(len(hierarchy)) if at not in digits]
        best = sorted(shapes, key=lambda at: -scores[row, at])[:4]
        axis.set_xlabel("\n".join(f"{hierarchy.classes[at]}  {scores[row, at]:.2f}" for at in best), fontsize=9)
    figure.suptitle("The first test picture of each digit, and the two that the model is least sure of")
    return figure

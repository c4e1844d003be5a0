"""How scores become coherent, where some classes do not count.

A class that does not count has no trained output. It takes no part in the correction of the others, and afterwards it
has the highest score among the classes below it that count, or 0 if there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import nn

from chmcnn.constraint import IndexedHierarchy, delegates, max_constraint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn.hierarchy import Hierarchy

    AnyHierarchy = Hierarchy | IndexedHierarchy

Direction = Literal["max", "min"]
"""The maximum over a class and its descendants, or the minimum over a class and its ancestors."""


def correct(
    scores: Tensor, hierarchy: AnyHierarchy, *, above: AnyHierarchy | None = None, counted: Tensor | None = None
) -> Tensor:
    """Make probabilities coherent.

    Parameters
    ----------
    scores
        Probabilities (..., classes).
    hierarchy
        The classes, for the maximum over descendants.
    above
        The reversed hierarchy, for the minimum over ancestors instead.
    counted
        Mask of the classes that count; None if all do.

    Examples
    --------
    >>> from chmcnn import Hierarchy
    >>> tree, scores = Hierarchy.from_edges([("root", "a"), ("a", "b")]), torch.tensor([[0.5, 0.2, 0.3]])
    >>> tree.classes, correct(scores, tree), correct(scores, tree, above=tree.reversed)
    (('a', 'b', 'root'), tensor([[0.5000, 0.2000, 0.5000]]), tensor([[0.3000, 0.2000, 0.3000]]))
    >>> correct(scores, tree, above=tree.reversed, counted=torch.tensor([True, True, False]))
    tensor([[0.5000, 0.2000, 0.5000]])
    """
    if above is not None:
        scores = -max_constraint(-_replace(scores, counted, 1.0), above)
        if counted is None:
            return scores
    return max_constraint(_replace(scores, counted, 0.0), hierarchy)


def find_delegates(
    scores: Tensor, hierarchy: AnyHierarchy, *, above: AnyHierarchy | None = None, counted: Tensor | None = None
) -> Tensor:
    """Return the position of the class that each score comes from, with the arguments of `correct`.

    >>> from chmcnn import Hierarchy
    >>> tree, scores = Hierarchy.from_edges([("root", "a"), ("a", "b")]), torch.tensor([[0.2, 0.5, 0.9]])
    >>> find_delegates(scores, tree, counted=torch.tensor([True, True, False]))  # a, b, root
    tensor([[1, 1, 1]])
    """
    if above is None:
        return delegates(_replace(scores, counted, -1.0), hierarchy)  # below every score, so never preferred in a tie
    lowest = delegates(-_replace(scores, counted, 2.0), above)
    if counted is None:
        return lowest
    corrected = correct(scores, hierarchy, above=above, counted=counted)
    best = delegates(_replace(corrected, counted, -1.0), hierarchy)
    return lowest.gather(-1, best).where(counted[best], best)  # nothing below it counts: it has no other source


def get_options(
    hierarchy: Hierarchy, direction: Direction, counted: NDArray[np.bool_] | None, device: torch.device
) -> dict[str, Any]:
    """Return the options of `correct` and `find_delegates`; ``counted`` is None if all classes count."""
    return {
        "above": hierarchy.reversed if direction == "min" else None,
        "counted": None if counted is None else torch.tensor(counted, device=device),
    }


def _replace(scores: Tensor, counted: Tensor | None, value: float) -> Tensor:
    """Replace the scores of the classes that do not count."""
    return scores if counted is None else scores.where(counted, value)


class Correction(nn.Module):
    """`correct` as a module, which can be exported.

    >>> from chmcnn import Hierarchy
    >>> Correction(Hierarchy.from_edges([("a", "b")]), "max")(torch.tensor([[0.1, 0.3]]))
    tensor([[0.3000, 0.3000]])
    """

    counted: Tensor | None

    def __init__(self, hierarchy: Hierarchy, direction: Direction, evaluated: NDArray[np.bool_] | None = None) -> None:
        super().__init__()
        self.hierarchy = IndexedHierarchy(hierarchy)
        self.above = IndexedHierarchy(hierarchy.reversed) if direction == "min" else None
        self.register_buffer("counted", None if evaluated is None else torch.tensor(evaluated), persistent=False)

    def forward(self, scores: Tensor) -> Tensor:
        """Make probabilities (..., classes) coherent."""
        return correct(scores, self.hierarchy, above=self.above, counted=self.counted)


class CountedLogits(nn.Module):
    """A loss in which no class delegates to one that does not count: its logit is the lowest possible number."""

    counted: Tensor

    def __init__(self, loss: nn.Module, evaluated: NDArray[np.bool_]) -> None:
        super().__init__()
        self.loss = loss
        self.register_buffer("counted", torch.tensor(evaluated), persistent=False)

    def forward(self, logits: Tensor, y: Tensor) -> Tensor:
        """Compare logits with labels, both (..., classes)."""
        value: Tensor = self.loss(logits.where(self.counted, torch.finfo(logits.dtype).min), y)
        return value


def delegates_to_uncounted(hierarchy: Hierarchy, evaluated: NDArray[np.bool_]) -> bool:
    """Whether a class that counts has a descendant that does not: its loss could then depend on the other's output.

    >>> import numpy as np
    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("a", "b")])
    >>> [delegates_to_uncounted(tree, np.array(mask)) for mask in ([False, True], [True, False])]
    [False, True]
    """
    if evaluated.all():
        return False
    above_uncounted = hierarchy.close(~evaluated[None])[0]
    return bool((above_uncounted & evaluated).any())

"""The classes that a network has outputs for: all of them, or those with a row.

A class without a row has none below it either, as labels have all ancestors. Its score is 0, which is coherent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from chmcnn.training import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class LearnedClasses:
    """The classes of a hierarchy that a network has outputs for.

    >>> from chmcnn import Hierarchy
    >>> tree = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> learned = LearnedClasses(tree, np.array([True, True, True]), np.array([True, False, True]))
    >>> learned.hierarchy.classes, learned.widen(torch.tensor([[0.9, 0.2]]))
    (('animal', 'dog'), tensor([[0.9000, 0.0000, 0.2000]]))
    """

    all_classes: Hierarchy
    all_evaluated: NDArray[np.bool_]
    mask: NDArray[np.bool_]  # (classes,)
    _places: Tensor = field(init=False, repr=False)  # of each class among these, or of the 0 that follows them

    def __post_init__(self) -> None:
        """Find the places now: a tensor that is made in a prediction or an export is of no use elsewhere."""
        places = np.where(self.mask, self.mask.cumsum() - 1, self.mask.sum())
        object.__setattr__(self, "_places", torch.from_numpy(places))

    @cached_property
    def is_all(self) -> bool:
        """Whether the network has an output for every class."""
        return bool(self.mask.all())

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """These classes, in the order of the outputs."""
        if self.is_all:
            return self.all_classes
        names = self.all_classes.classes
        return self.all_classes.restrict(names[position] for position in np.flatnonzero(self.mask).tolist())

    @cached_property
    def evaluated(self) -> NDArray[np.bool_]:
        """Which of these classes count."""
        return self.all_evaluated[self.mask]

    @property
    def counted(self) -> NDArray[np.bool_] | None:
        """Which of these classes count; None if all do."""
        return None if self.evaluated.all() else self.evaluated

    def restrict(self, *parts: Rows | None) -> LearnedClasses:
        """Return the classes that some rows have."""
        mask = np.zeros_like(self.mask)
        for rows in parts:
            if rows is not None:
                mask[rows.y.indices] = True
        return replace(self, mask=mask)

    def narrow(self, rows: Rows) -> Rows:
        """Return rows with the labels of these classes only."""
        return rows if self.is_all else Rows(rows.x, rows.y[:, self.mask])

    def widen(self, scores: Tensor) -> Tensor:
        """Return scores (rows, classes) of all classes, from those of these classes."""
        if self.is_all:
            return scores
        return functional.pad(scores, (0, 1)).index_select(-1, self._places.to(scores.device))

    def grow(self, network: nn.Module, larger: nn.Module) -> nn.Module:
        """Give the weights of a network for these classes to a new one for all classes, and return it."""
        weights = larger.state_dict()
        for name, values in network.state_dict().items():
            grown = [dim for dim, size in enumerate(weights[name].shape) if size != values.shape[dim]]
            for dim in grown:  # several outputs per class stand one after the other
                repeats = weights[name].shape[dim] // len(self.mask)
                positions = torch.from_numpy(np.flatnonzero(np.tile(self.mask, repeats)))
                weights[name].index_copy_(dim, positions.to(values.device), values)
            if not grown:
                weights[name].copy_(values)
        return larger

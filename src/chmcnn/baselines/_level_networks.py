"""Networks with a state for each level of the hierarchy, and outputs both for each level and for all classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy


def find_levels(hierarchy: Hierarchy, evaluated: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the level of each class, from 0: its depth, where depths without an evaluated class are not counted.

    A class at such a depth belongs to the next level.

    >>> from chmcnn import Hierarchy
    >>> find_levels(Hierarchy.from_paths(["root/a/b", "root/c"]), np.array([False, True, True, True]))
    array([0, 0, 1, 0])
    """
    depths = np.unique(hierarchy.depths[evaluated])
    return np.searchsorted(depths, hierarchy.depths).clip(max=len(depths) - 1)


class _Norm(nn.BatchNorm1d):
    """Batch norm that also takes a batch of one row: it has no variance, so it is normalised as in prediction."""

    def forward(self, x: Tensor) -> Tensor:
        if self.training and len(x) == 1:
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        return super().forward(x)


class LevelNetwork(nn.Module):
    """Return logits (rows, 2, classes): from the branch of the level of each class, and from the last state.

    A subclass implements ``states``, and ``branch``, the linear layer from the state of a level to its hidden units.
    """

    columns: Tensor

    def __init__(self, levels: NDArray[np.int64], units: int, branch_units: int, dropout: float) -> None:
        super().__init__()
        sizes = np.bincount(levels).tolist()
        self.after_state = nn.ModuleList(nn.Sequential(_Norm(units), nn.Dropout(dropout)) for _ in sizes)
        self.after_branch = nn.ModuleList(nn.Sequential(_Norm(branch_units), nn.Dropout(dropout)) for _ in sizes)
        self.level_outputs = nn.ModuleList(nn.Linear(branch_units, size) for size in sizes)
        self.output = nn.Linear(units, len(levels))
        by_level = np.argsort(levels, kind="stable")
        self.register_buffer("columns", torch.tensor(np.argsort(by_level)), persistent=False)

    def states(self, x: Tensor) -> Iterator[Tensor]:
        """Yield the state (rows, units) of each level, from the top down."""
        raise NotImplementedError

    def branch(self, level: int, state: Tensor) -> Tensor:
        """Return the hidden units of the branch of a level, before the activation."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of features (rows, features)."""
        states, level_logits = list(self.states(x)), []
        for level, state in enumerate(states):
            hidden = self.after_branch[level](torch.relu(self.branch(level, state)))
            level_logits.append(self.level_outputs[level](hidden))
        local = torch.cat(level_logits, dim=1).index_select(1, self.columns)
        return torch.stack((local, self.output(states[-1])), dim=1)


class Stacked(LevelNetwork):
    """A layer for each level, whose inputs are the state of the level above and the features.

    >>> Stacked(5, np.array([0, 1, 1]))(torch.randn(4, 5)).shape
    torch.Size([4, 2, 3])
    """

    def __init__(
        self, features: int, levels: NDArray[np.int64], *, units: int = 384, branch_units: int = 384, dropout: float = 0
    ) -> None:
        super().__init__(levels, units, branch_units, dropout)
        count = len(self.level_outputs)
        self.layers = nn.ModuleList(nn.Linear(features + units * (level > 0), units) for level in range(count))
        self.branches = nn.ModuleList(nn.Linear(units, branch_units) for _ in range(count))

    def states(self, x: Tensor) -> Iterator[Tensor]:
        """Yield the state of each level."""
        inputs = x
        for layer, after in zip(self.layers, self.after_state, strict=True):
            state = torch.relu(after(layer(inputs)))  # normalised first: better on validation data than last
            yield state
            inputs = torch.cat((state, x), dim=1)

    def branch(self, level: int, state: Tensor) -> Tensor:
        """Apply the layer of the level."""
        hidden: Tensor = self.branches[level](state)
        return hidden


class Recurrent(LevelNetwork):
    """One LSTM cell that takes one step for each level, from the top down; the features are its input at each step.

    The levels share all weights except those of the outputs and of the normalisation: states of different levels are
    distributed differently.

    >>> Recurrent(5, np.array([0, 1, 1]))(torch.randn(4, 5)).shape
    torch.Size([4, 2, 3])
    """

    def __init__(
        self, features: int, levels: NDArray[np.int64], *, units: int = 384, branch_units: int = 384, dropout: float = 0
    ) -> None:
        super().__init__(levels, units, branch_units, dropout)
        self.cell = nn.LSTMCell(features, units)
        self.shared_branch = nn.Linear(units, branch_units)

    def states(self, x: Tensor) -> Iterator[Tensor]:
        """Yield the state of each level; the cell itself continues from the state before normalisation and dropout."""
        memory = None
        for after in self.after_state:
            memory = self.cell(x, memory)
            yield after(memory[0])

    def branch(self, _level: int, state: Tensor) -> Tensor:
        """Apply the layer that all levels share."""
        hidden: Tensor = self.shared_branch(state)
        return hidden

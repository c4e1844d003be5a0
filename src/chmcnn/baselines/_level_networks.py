"""Networks with a state for every level of the hierarchy, and outputs both of each level and of all classes at once."""

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


def levels_of(hierarchy: Hierarchy, evaluated: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Level of each class, from 0: its longest path from a root, where only depths with a class that counts are levels.

    A class that does not count, on a depth of its like, joins the next level.

    >>> from chmcnn import Hierarchy
    >>> levels_of(Hierarchy.from_paths(["root/a/b", "root/c"]), np.array([False, True, True, True]))
    array([0, 0, 1, 0])
    """
    known = np.unique(hierarchy.depths[evaluated])
    return np.searchsorted(known, hierarchy.depths).clip(max=len(known) - 1)


class _Norm(nn.BatchNorm1d):
    """Batch norm that takes a batch of one row too: it has no variance, and is normalised as in prediction."""

    def forward(self, x: Tensor) -> Tensor:
        if self.training and len(x) == 1:
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        return super().forward(x)


class LevelNetwork(nn.Module):
    """Logits (rows, 2, classes): those of each class from the branch of its level, and those of the last state.

    A subclass has ``states`` of the levels, and the linear ``branch`` from a state to the hidden units of a level.
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
        """The state (rows, units) of each level, from the top."""
        raise NotImplementedError

    def branch(self, level: int, state: Tensor) -> Tensor:
        """What the branch of a level makes of its state, before the activation."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Logits of features (rows, features)."""
        states, found = list(self.states(x)), []
        for level, state in enumerate(states):
            hidden = self.after_branch[level](torch.relu(self.branch(level, state)))
            found.append(self.level_outputs[level](hidden))
        local = torch.cat(found, dim=1).index_select(1, self.columns)
        return torch.stack((local, self.output(states[-1])), dim=1)


class Stacked(LevelNetwork):
    """A layer for each level, which is given the state of the level above, and the features.

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
        """The state of each level."""
        given = x
        for layer, after in zip(self.layers, self.after_state, strict=True):
            state = torch.relu(after(layer(given)))  # normalised first: better on validation data than last
            yield state
            given = torch.cat((state, x), dim=1)

    def branch(self, level: int, state: Tensor) -> Tensor:
        """Of its own for each level."""
        hidden: Tensor = self.branches[level](state)
        return hidden


class Recurrent(LevelNetwork):
    """One LSTM cell that goes down the levels, one step for each, and is given the features at each.

    Weights are shared by the levels, other than those of the outputs and of the normalisation: states of different
    levels are distributed differently.

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
        """The state of each level; the cell itself goes on with what is not normalised and not dropped."""
        memory = None
        for after in self.after_state:
            memory = self.cell(x, memory)
            yield after(memory[0])

    def branch(self, level: int, state: Tensor) -> Tensor:  # noqa: ARG002 -- the same for all
        """The same for all levels."""
        hidden: Tensor = self.shared_branch(state)
        return hidden

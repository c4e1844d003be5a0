"""HMCN-F and HMCN-R: networks whose layers follow the levels of the hierarchy, with a penalty on violations."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F

from chmcnn.baselines._level_networks import LevelNetwork, Recurrent, Stacked, levels_of
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import NeuralClassifier, Preset
from chmcnn.training import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn._typing import LabelsLike

PENALTY = 0.1
"""Weight of the violations in the loss."""


class LevelLoss(torch.nn.Module):
    """Cross-entropy of each level's own outputs and of those of all classes, and the squares of violations.

    The cross-entropies are means over the classes that count, the violations a sum; all are means over rows.
    """

    weight: Tensor
    edges: Tensor

    def __init__(
        self,
        levels: NDArray[np.int64],
        edges: NDArray[np.int64],
        evaluated: NDArray[np.bool_],
        class_weight: NDArray[np.float32] | None = None,
    ) -> None:
        super().__init__()
        counted = np.bincount(levels, weights=evaluated)  # in each level
        weight = evaluated * np.stack((1 / counted[levels], np.full(len(levels), 1 / evaluated.sum())))
        weight = weight if class_weight is None else weight * class_weight
        self.register_buffer("weight", torch.tensor(weight, dtype=torch.float32), persistent=False)
        between = edges[evaluated[edges].all(axis=1)]
        self.register_buffer("edges", torch.tensor(between.T.copy()), persistent=False)

    def forward(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compare logits (rows, 2, classes) with labels (rows, classes)."""
        labels = y.to(outputs.dtype)[:, None].expand_as(outputs)
        error = F.binary_cross_entropy_with_logits(outputs, labels, weight=self.weight, reduction="sum")
        above, below = (mixed(outputs).index_select(1, ends) for ends in self.edges)
        return (error + PENALTY * torch.relu(below - above).square().sum()) / len(y)


def mixed(outputs: Tensor) -> Tensor:
    """Probabilities (rows, classes): half by the branch of the level, half by the network as a whole."""
    return torch.sigmoid(outputs).mean(dim=1)


def _presets(rate: float) -> dict[str, Preset]:
    """The default with this learning rate, and what was published, with the epochs and patience of C-HMCNN(h)."""
    quick = Settings(batch_size=64, learning_rate=rate, weight_decay=0, patience=10)
    published = Settings(epochs=1000, batch_size=4, learning_rate=1e-3, weight_decay=0, patience=20)
    return {name: Preset((384, 384), 0.6, how) for name, how in {"default": quick, "paper": published}.items()}


class _HMCN(NeuralClassifier):
    """What both share. ``widths`` are the units of a level's state and of its branch."""

    correction: ClassVar[Literal["max", "min"]] = "min"
    _kind: ClassVar[type[Stacked | Recurrent]]

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        if not self._levels().any():
            name = type(self).__name__.replace("HMCN", "HMCN-")
            raise ChmcnnError(
                f"{name} needs levels: the {self.evaluated_.sum()} classes that count are all on one level of the "
                "hierarchy. Give a hierarchy with edges between them, or use C-HMCNN, which is CHMCNNClassifier."
            )

    def _levels(self) -> NDArray[np.int64]:
        return levels_of(self.hierarchy_, self.evaluated_)

    def _default_network(self, features: int, classes: int) -> LevelNetwork:  # noqa: ARG002 -- the levels tell
        shape = self.architecture()
        if len(shape["widths"]) != 2:
            raise ChmcnnError(f"widths is {shape['widths']!r}; expected two: the units of a level's state and branch.")
        units, branch_units = shape["widths"]
        return self._kind(features, self._levels(), units=units, branch_units=branch_units, dropout=shape["dropout"])

    def _loss(self, labels: NDArray[np.bool_] | None) -> LevelLoss:
        weights = self._class_weights(labels)
        return LevelLoss(self._levels(), self.hierarchy_.edges, self.evaluated_, weights).to(self.device_)

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Probabilities (rows, classes), not coherent yet; 1 for classes that do not count, which nothing taught."""
        taught = torch.tensor(self.evaluated_, device=outputs.device)
        return torch.where(taught, mixed(outputs), 1.0)


class HMCNF(_HMCN):
    """HMCN-F: a layer for each level of the hierarchy, and a branch from each to the classes of its level.

    The probability of a class is half the one of its level's branch, and half the one of the last layer; the loss
    penalises children that score above their parents. What is left of that is corrected as in f+: a class scores at
    most as high as its parents. Levels are those of the longest path from a root. Classes that do not count
    (``evaluated``) have no say: they are in no loss, and have probability 1 before the correction.

    Parameters are those of `CHMCNNClassifier`, other than: ``widths`` are two, the units of a level's layer and of its
    branch; a ``network`` of your own gives logits (rows, 2, classes), of the levels' branches and of the whole.
    The preset ``"paper"`` has batches of 4; ``"default"`` has larger ones, and is quicker; its
    rate was chosen on the validation data of cellcycle_FUN.

    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=60, features=4, classes=6)
    >>> model = HMCNF(data.hierarchy, epochs=2, random_state=0).fit(data.train.X, data.train.Y)
    >>> len(data.hierarchy.violations(model.predict_proba(data.test.X)))
    0
    """

    presets: ClassVar[Mapping[str, Preset]] = _presets(2e-3)  # with 1e-3 it needs more epochs
    _kind = Stacked


class HMCNR(_HMCN):
    """HMCN-R: as `HMCNF`, with one LSTM cell that takes a step for each level, in place of a layer for each."""

    presets: ClassVar[Mapping[str, Preset]] = _presets(1e-3)
    _kind = Recurrent

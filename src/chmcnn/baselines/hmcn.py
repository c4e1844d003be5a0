"""HMCN-F and HMCN-R: networks whose layers follow the levels of the hierarchy, with a penalty on violations."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F

from chmcnn.baselines._level_networks import LevelNetwork, Recurrent, Stacked, find_levels
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import NeuralClassifier, Preset
from chmcnn.training import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from scipy.sparse import csr_array
    from torch import Tensor

    from chmcnn._typing import LabelsLike

PENALTY = 0.1
"""Weight of the violations in the loss."""


class LevelLoss(torch.nn.Module):
    """Cross-entropy of the outputs of each level and of those of all classes, and the squared violations.

    The cross-entropies are means over the evaluated classes, the violations are a sum; all are means over rows.
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
        sizes = np.bincount(levels, weights=evaluated)  # number of evaluated classes of each level
        weight = evaluated * np.stack((1 / sizes[levels], np.full(len(levels), 1 / evaluated.sum())))
        weight = weight if class_weight is None else weight * class_weight
        self.register_buffer("weight", torch.tensor(weight, dtype=torch.float32), persistent=False)
        evaluated_edges = edges[evaluated[edges].all(axis=1)]
        self.register_buffer("edges", torch.tensor(evaluated_edges.T.copy()), persistent=False)

    def forward(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Compare logits (rows, 2, classes) with labels (rows, classes)."""
        labels = y.to(outputs.dtype)[:, None].expand_as(outputs)
        error = F.binary_cross_entropy_with_logits(outputs, labels, weight=self.weight, reduction="sum")
        parents, children = (average_outputs(outputs).index_select(1, ends) for ends in self.edges)
        return (error + PENALTY * torch.relu(children - parents).square().sum()) / len(y)


def average_outputs(outputs: Tensor) -> Tensor:
    """Return probabilities (rows, classes): the mean of the branch of the level and of the whole network."""
    return torch.sigmoid(outputs).mean(dim=1)


def _create_presets(learning_rate: float) -> dict[str, Preset]:
    """Return the default, and the published settings with the epochs and patience of C-HMCNN(h)."""
    default = Settings(batch_size=64, learning_rate=learning_rate, weight_decay=0, patience=10)
    paper = Settings(epochs=1000, batch_size=4, learning_rate=1e-3, weight_decay=0, patience=20)
    return {"default": Preset((384, 384), 0.6, default), "paper": Preset((384, 384), 0.6, paper)}


class _HMCN(NeuralClassifier):
    """Base of both systems. ``widths`` are the units of the state of a level and of its branch."""

    correction: ClassVar[Literal["max", "min"]] = "min"
    _network_class: ClassVar[type[Stacked | Recurrent]]

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        if not self._levels().any():
            name = type(self).__name__.replace("HMCN", "HMCN-")
            raise ChmcnnError(
                f"{name} needs several levels, but all {self.evaluated_.sum()} classes that count are on one level of "
                "the hierarchy. Use a hierarchy with edges between them, or C-HMCNN (CHMCNNClassifier)."
            )

        if self.output_rank is not None:
            raise ChmcnnError(f"output_rank is {self.output_rank}, but HMCN has a last layer for each level: omit it.")

    def _levels(self) -> NDArray[np.int64]:
        return find_levels(self.hierarchy_, self.evaluated_)

    def _create_default_network(self, features: int, _classes: int) -> LevelNetwork:
        options = self.architecture()
        if len(options["widths"]) != 2:
            raise ChmcnnError(
                f"widths is {options['widths']!r}; expected two numbers: the units of the state and of the branch."
            )
        units, branch_units = options["widths"]
        return self._network_class(
            features, self._levels(), units=units, branch_units=branch_units, dropout=options["dropout"]
        )

    def _create_loss(self, labels: csr_array | None) -> LevelLoss:
        weights = self._weigh_classes(labels)
        return LevelLoss(self._levels(), self.hierarchy_.edges, self.evaluated_, weights).to(self.device_)

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Return probabilities (rows, classes) before the correction."""
        return average_outputs(outputs)


class HMCNF(_HMCN):
    """HMCN-F: a layer for each level of the hierarchy, and a branch from each layer to the classes of its level.

    The probability of a class is the mean of that of the branch of its level and that of the last layer. The loss
    penalises children that score above their parents, and the correction of f+ removes the remaining violations. The
    level of a class is its longest path from a root. Classes that are not evaluated are not in the loss.

    The parameters are those of `CHMCNNClassifier`. ``widths`` are two numbers: the units of the layer of a level and of
    its branch. A custom ``network`` returns logits (rows, 2, classes): of the branches, and of the last layer.
    The preset ``"paper"`` has batches of 4; ``"default"`` has larger ones and is faster. Its learning rate was chosen
    on the validation data of cellcycle_FUN.

    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=60, features=4, classes=6)
    >>> model = HMCNF(data.hierarchy, epochs=2, random_state=0).fit(data.train.X, data.train.Y)
    >>> len(data.hierarchy.violations(model.predict_proba(data.test.X)))
    0
    """

    presets: ClassVar[Mapping[str, Preset]] = _create_presets(2e-3)  # 1e-3 needs more epochs
    _network_class = Stacked


class HMCNR(_HMCN):
    """HMCN-R: `HMCNF` with one LSTM cell, which takes one step per level, instead of one layer per level."""

    presets: ClassVar[Mapping[str, Preset]] = _create_presets(1e-3)
    _network_class = Recurrent

"""DHN: one network says for each class how much speaks for it, and how much against it."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from chmcnn import metrics, training
from chmcnn.constraint import max_constraint
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import NeuralClassifier
from chmcnn.nn import MCLoss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chmcnn._typing import JSONValue, LabelsLike
    from chmcnn.hierarchy import Hierarchy

_MIXES = [share / 10 for share in range(11)]


class DHN(NeuralClassifier):
    """The max-constraint twice: "yes" goes up to the ancestors of a class, and "no" down to its descendants.

    The network has two outputs for each class, and the loss of C-HMCNN(h) is applied to both: to "yes" with the labels,
    to "no" with what is not a label, on the hierarchy turned round. A prediction mixes the two, and is coherent without
    any correction. Parameters are those of `CHMCNNClassifier`, and one more; a ``network`` of your own gives first a
    logit for the "yes", and then one for the "no" of each class.

    Parameters
    ----------
    mix
        The share of "yes" in a prediction, from 0 to 1. By default the one of 0, 0.1, ..., 1 with the highest AU(PRC)
        on the validation rows, once the network is trained; 0.5 without such rows, and while it is trained.

    Attributes
    ----------
    mix_ : float
        The share that is used.

    Examples
    --------
    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=60, features=4, classes=6)
    >>> model = DHN(data.hierarchy, mix=0.3, epochs=2, random_state=0).fit(data.train.X, data.train.Y)
    >>> len(data.hierarchy.violations(model.uncorrected_proba(data.test.X)))
    0
    """

    mix_: float
    own_settings: ClassVar[tuple[str, ...]] = ("mix",)

    def __init__(self, hierarchy: Hierarchy | None = None, *, mix: float | None = None, **options: JSONValue) -> None:
        super().__init__(hierarchy, **options)
        self.mix = mix

    def settings_to_save(self) -> dict[str, Any]:
        """Return the options of the network, and the share that is used."""
        return super().settings_to_save() | {"mix": self.mix_}

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Probabilities (rows, classes), from (rows, 2 * classes) logits."""
        return mixed(outputs, self.hierarchy_, self.mix_)

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        if self.mix is not None and not (isinstance(self.mix, numbers.Real) and 0 <= self.mix <= 1):
            raise ChmcnnError(f"mix is {self.mix!r}; expected a number from 0 to 1, or None to find one.")
        self.mix_ = 0.5 if self.mix is None else float(self.mix)

    def _loss(self, labels: NDArray[np.bool_] | None) -> nn.Module:
        options: dict[str, Any] = {"mask": self._mask(), "weight": self._class_weights(labels), "validate": False}
        loss = _Mirrored(MCLoss(self.hierarchy_, **options), MCLoss(self.hierarchy_.reversed, **options))
        return loss.to(self.device_)

    def _width(self) -> int:
        return 2 * len(self.hierarchy_)

    def _validation_scores(self, network: nn.Module, valid: training.Rows) -> NDArray[np.floating]:
        if self.mix is None:
            outputs = training.predict(network, valid.x, self.device_).float()
            scores = {mix: self._score(outputs, valid.y, mix) for mix in _MIXES}
            self.mix_ = max(_MIXES, key=lambda mix: scores[mix])
            self.best_score_ = scores[self.mix_]
        return super()._validation_scores(network, valid)

    def _score(self, outputs: Tensor, y: Tensor, mix: float) -> float:
        return metrics.auprc(y, mixed(outputs, self.hierarchy_, mix), classes=self.evaluated_)


def mixed(outputs: Tensor, hierarchy: Hierarchy, mix: float) -> Tensor:
    """Coherent probabilities (rows, classes), from logits (rows, 2 * classes): all the "yes", and then all the "no".

    A class has the most of its descendants' "yes" and the most of its ancestors' "no": no parent has less of the one or
    more of the other than its child. Each operation below keeps that order, also when it is rounded.

    >>> from chmcnn.hierarchy import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> mixed(torch.tensor([[-1.0, 1.0, 0.0, -2.0]]), hierarchy, 0.5)
    tensor([[0.6155, 0.6155]])
    """
    yes, no = torch.sigmoid(outputs).unflatten(-1, (2, len(hierarchy))).unbind(-2)
    return mix * max_constraint(yes, hierarchy) + (1 - mix) * (1 - max_constraint(no, hierarchy.reversed))


class _Mirrored(nn.Module):
    """The loss of "yes", and that of "no"."""

    def __init__(self, loss: nn.Module, mirrored: nn.Module) -> None:
        super().__init__()
        self.loss, self.mirrored = loss, mirrored

    def forward(self, outputs: Tensor, y: Tensor) -> Tensor:
        yes, no = outputs.unflatten(-1, (2, y.shape[-1])).unbind(-2)
        both: Tensor = self.loss(yes, y.bool()) + self.mirrored(no, ~y.bool())
        return both

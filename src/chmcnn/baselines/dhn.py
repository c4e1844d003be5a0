"""DHN: a network with an output for each class, and one against it."""

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
    from scipy.sparse import csr_array

    from chmcnn._typing import JSONValue, LabelsLike, ScoresLike
    from chmcnn.hierarchy import Hierarchy

_MIXES = [share / 10 for share in range(11)]


class DHN(NeuralClassifier):
    """DHN: the max-constraint passes "yes" up to the ancestors of a class, and "no" down to its descendants.

    The network has two outputs per class, and both have the loss of C-HMCNN(h): "yes" with the labels, and "no" with
    the negated labels on the reversed hierarchy. A prediction mixes the two, and is coherent without a correction.
    The parameters are those of `CHMCNNClassifier`, and ``mix``. A custom ``network`` returns the "yes" logits of all
    classes, followed by the "no" logits.

    Parameters
    ----------
    mix
        Share of "yes" in a prediction, from 0 to 1. By default the best of 0, 0.1, ..., 1 by the AU(PRC) of the trained
        network on the validation rows. It is 0.5 without such rows, and during training.

    Attributes
    ----------
    mix_ : float
        Share of "yes" in predictions.

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
        """Return the options of the network, and the share of "yes"."""
        return super().settings_to_save() | {"mix": self.mix_}

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Return probabilities (rows, classes) from logits (rows, 2 * classes)."""
        return mix_outputs(outputs, self.learned_.hierarchy, self.mix_)

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        super().resolve(y)
        if self.mix is not None and not (isinstance(self.mix, numbers.Real) and 0 <= self.mix <= 1):
            raise ChmcnnError(f"mix is {self.mix!r}; expected a number from 0 to 1, or None to tune it.")
        self.mix_ = 0.5 if self.mix is None else float(self.mix)

    def _create_loss(self, labels: csr_array | None) -> nn.Module:
        learned = self.learned_
        options: dict[str, Any] = {"mask": learned.counted, "weight": self._weigh_classes(labels), "validate": False}
        loss = _Mirrored(MCLoss(learned.hierarchy, **options), MCLoss(learned.hierarchy.reversed, **options))
        return loss.to(self.device_)

    def _count_outputs(self) -> int:
        return 2 * super()._count_outputs()

    def _count_frequencies(self, labels: csr_array) -> Tensor:
        frequencies = super()._count_frequencies(labels)
        return torch.cat([frequencies, 1 - frequencies])

    def _score_validation_rows(self, network: nn.Module, valid: training.Rows) -> ScoresLike:
        if self.mix is None:
            scores = {mix: self._score(network, valid, mix) for mix in _MIXES}
            self.mix_ = max(_MIXES, key=lambda mix: scores[mix])
            self.best_score_ = scores[self.mix_]
        return super()._score_validation_rows(network, valid)

    def _score(self, network: nn.Module, valid: training.Rows, mix: float) -> float:
        blocks = training.score_blocks(
            lambda x: self.learned_.widen(mix_outputs(network(x).float(), self.learned_.hierarchy, mix)),
            valid,
            self.device_,
        )
        return metrics.auprc(valid.y, blocks, classes=self.evaluated_)


def mix_outputs(outputs: Tensor, hierarchy: Hierarchy, mix: float) -> Tensor:
    """Return coherent probabilities (rows, classes) from logits (rows, 2 * classes): all "yes", then all "no".

    A class has the largest "yes" of its descendants and the largest "no" of its ancestors: no parent has a smaller
    "yes" or a larger "no" than its child. Each operation below preserves this order, even with rounding.

    >>> from chmcnn.hierarchy import Hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
    >>> mix_outputs(torch.tensor([[-1.0, 1.0, 0.0, -2.0]]), hierarchy, 0.5)
    tensor([[0.6155, 0.6155]])
    """
    yes, no = torch.sigmoid(outputs).unflatten(-1, (2, len(hierarchy))).unbind(-2)
    return mix * max_constraint(yes, hierarchy) + (1 - mix) * (1 - max_constraint(no, hierarchy.reversed))


class _Mirrored(nn.Module):
    """Sum of the losses of "yes" and of "no"."""

    def __init__(self, loss: nn.Module, mirrored: nn.Module) -> None:
        super().__init__()
        self.loss, self.mirrored = loss, mirrored

    def forward(self, outputs: Tensor, y: Tensor) -> Tensor:
        yes, no = outputs.unflatten(-1, (2, y.shape[-1])).unbind(-2)
        total: Tensor = self.loss(yes, y.bool()) + self.mirrored(no, ~y.bool())
        return total

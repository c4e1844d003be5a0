"""Export to ONNX: features to coherent probabilities in one file."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from chmcnn._io.files import atomic
from chmcnn.errors import ChmcnnError, ModelError
from chmcnn.nn import MaxConstraint

if TYPE_CHECKING:
    from pathlib import Path

    from chmcnn.estimator._neural import NeuralClassifier


class _Whole(nn.Module):
    """Imputation, standardisation, network, sigmoid and constraint."""

    means: Tensor
    shift: Tensor
    scales: Tensor

    def __init__(self, model: NeuralClassifier) -> None:
        super().__init__()
        found = None if model.streamed_ else model.preprocessor_
        means, scales = (np.zeros(1), np.ones(1)) if found is None else (found.means_, found.scales_)
        shift = found is not None and found.standardise and not found.sparse_
        self.register_buffer("means", torch.tensor(means, dtype=torch.float32))
        self.register_buffer("shift", self.means * float(shift))
        self.register_buffer("scales", torch.tensor(scales, dtype=torch.float32))
        self.network = model.network_.cpu().eval()
        self.probabilities = model.probabilities
        self.sign = 1 if model.correction == "max" else -1
        self.constraint = MaxConstraint(model.hierarchy_ if self.sign == 1 else model.hierarchy_.reversed)

    def forward(self, x: Tensor) -> Tensor:
        known = torch.where(torch.isnan(x), self.means, x)
        probabilities = self.probabilities(self.network((known - self.shift) / self.scales))
        constrained: Tensor = self.sign * self.constraint(self.sign * probabilities)
        return constrained


def export(model: NeuralClassifier, path: Path, *, force: bool) -> None:
    """Write the model; its input is ``features``, its output ``probabilities``."""
    if path.exists() and not force:
        raise ModelError("already exists; choose another file, or use force=True to overwrite it", path)
    try:
        import onnxscript  # noqa: F401
    except ModuleNotFoundError:
        raise ChmcnnError('The export needs onnx: pip install "chmcnn[onnx]".') from None
    whole = _Whole(model).eval()
    example = torch.zeros(2, *model.feature_shape_)
    with atomic(path) as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter, about its own insides
        torch.onnx.export(
            whole,
            (example,),
            temporary,
            input_names=["features"],
            output_names=["probabilities"],
            dynamic_shapes={"x": {0: "rows"}},
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    model.network_.to(model.device_)

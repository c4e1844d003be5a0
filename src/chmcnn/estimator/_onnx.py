"""Export to ONNX: one file that turns features into coherent probabilities."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from chmcnn._io.files import atomic
from chmcnn.errors import ChmcnnError, ModelError
from chmcnn.estimator._correction import Correction

if TYPE_CHECKING:
    from pathlib import Path

    from chmcnn.estimator._neural import NeuralClassifier


class _Pipeline(nn.Module):
    """Imputation, standardisation, network, sigmoid and constraint."""

    means: Tensor
    shift: Tensor
    scales: Tensor

    def __init__(self, model: NeuralClassifier) -> None:
        super().__init__()
        preprocessor = None if model.streamed_ else model.preprocessor_
        means, scales = np.zeros(1), np.ones(1)
        if preprocessor is not None:
            means, scales = preprocessor.means_, preprocessor.scales_
        shift = preprocessor is not None and preprocessor.standardise and not preprocessor.sparse_
        self.register_buffer("means", torch.tensor(means, dtype=torch.float32))
        self.register_buffer("shift", self.means * float(shift))
        self.register_buffer("scales", torch.tensor(scales, dtype=torch.float32))
        self.network = model.network_.cpu().eval()
        self.probabilities = model.probabilities
        mask = None if model.evaluated_.all() else model.evaluated_
        self.correction = Correction(model.hierarchy_, model.correction, mask)

    def forward(self, x: Tensor) -> Tensor:
        imputed = torch.where(torch.isnan(x), self.means, x)
        probabilities = self.probabilities(self.network((imputed - self.shift) / self.scales))
        coherent: Tensor = self.correction(probabilities)
        return coherent


def export_onnx(model: NeuralClassifier, path: Path, *, force: bool) -> None:
    """Write an ONNX file with the input ``features`` and the output ``probabilities``."""
    if path.exists() and not force:
        raise ModelError("already exists; choose another file, or use force=True to overwrite it", path)
    if find_spec("onnxscript") is None:
        raise ChmcnnError('The export needs onnx: pip install "chmcnn[onnx]".')
    pipeline = _Pipeline(model).eval()
    example = torch.zeros(2, *model.feature_shape_)
    with atomic(path) as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # internal warnings of the exporter
        torch.onnx.export(
            pipeline,
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

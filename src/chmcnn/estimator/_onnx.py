"""Export to ONNX: one file that turns features into coherent probabilities."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from chmcnn._io.files import atomic
from chmcnn.errors import ChmcnnError, ModelError
from chmcnn.estimator._correction import Correction

if TYPE_CHECKING:
    from pathlib import Path

    from chmcnn.estimator._neural import NeuralClassifier


class _Pipeline(nn.Module):
    """Imputation and standardisation, unless the features are a stream; network, sigmoid and constraint."""

    means: Tensor
    shift: Tensor
    scales: Tensor

    def __init__(self, model: NeuralClassifier) -> None:
        super().__init__()
        self.streamed = model.streamed_
        if not self.streamed:
            preprocessor = model.preprocessor_
            self.register_buffer("means", torch.tensor(preprocessor.means_, dtype=torch.float32))
            self.register_buffer("shift", torch.tensor(preprocessor.shifts_, dtype=torch.float32))
            self.register_buffer("scales", torch.tensor(preprocessor.scales_, dtype=torch.float32))
        self.network = model.network_.cpu().eval()
        self.probabilities = model.probabilities
        self.learned = model.learned_
        self.correction = Correction(self.learned.hierarchy, model.correction, self.learned.counted)

    def forward(self, x: Tensor) -> Tensor:
        if not self.streamed:
            x = (torch.where(torch.isnan(x), self.means, x) - self.shift) / self.scales
        return self.learned.widen(self.correction(self.probabilities(self.network(x))))


def export_onnx(model: NeuralClassifier, path: Path, *, force: bool) -> None:
    """Write an ONNX file with the input ``features`` and the output ``probabilities``."""
    if path.exists() and not force:
        raise ModelError("already exists; choose another file, or use force=True to overwrite it", path)
    if find_spec("onnxscript") is None:
        raise ChmcnnError('The export needs onnx: pip install "chmcnn[onnx]".')
    pipeline = _Pipeline(model).eval()
    example = torch.zeros(2, *model.feature_shape_, dtype=model.feature_type_)
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

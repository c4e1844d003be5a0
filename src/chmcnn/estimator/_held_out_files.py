"""What a model has learnt from held-out rows, as tensors of a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import torch

from chmcnn.errors import ModelError
from chmcnn.estimator._calibration import SCORE_GRID, Calibration, CalibrationMethod
from chmcnn.estimator._risks import RiskCurves, RiskOf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from chmcnn.estimator._held_out import HeldOutLearner

_ROWS = "risks.rows"


def held_out_tensors(model: HeldOutLearner) -> dict[str, Tensor]:
    """Return the calibration and the curves of risk; none if the model has none."""
    tensors = {}
    if model.calibration_ is not None:
        points = [torch.from_numpy(part) for part in (model.calibration_.scores, model.calibration_.probabilities)]
        tensors[f"calibration.{model.calibration_.method}"] = torch.stack(points)
    if model.risks_ is not None:
        tensors |= {f"risks.{of}": torch.from_numpy(risks) for of, risks in model.risks_.risks.items()}
        tensors[_ROWS] = torch.tensor(model.risks_.rows)
    return tensors


def restore_held_out(model: HeldOutLearner, tensors: Mapping[str, Tensor]) -> None:
    """Give a model the calibration and the curves of risk of a file; an older file has none."""
    methods: tuple[CalibrationMethod, ...] = get_args(CalibrationMethod)
    for method in methods:
        points = tensors.get(f"calibration.{method}")
        if points is not None:
            _check_points(points)
            model.calibration_ = Calibration(method, *points.numpy())
    if _ROWS in tensors:
        kinds: tuple[RiskOf, ...] = get_args(RiskOf)
        risks = {of: tensors[f"risks.{of}"].numpy() for of in kinds}
        for of, values in risks.items():
            if values.shape != SCORE_GRID.shape:
                raise ModelError(f"risks {of} have shape {values.shape}; expected {SCORE_GRID.shape}")
        model.risks_ = RiskCurves(int(tensors[_ROWS]), risks)


def _check_points(points: Tensor) -> None:
    """Refuse a map that is not increasing: its probabilities would contradict the hierarchy."""
    if points.ndim != 2 or len(points) != 2 or points.shape[1] < 2 or not (points.diff(dim=1) > 0).all():
        raise ModelError("the calibration is not an increasing map")
    if not torch.isfinite(points).all():
        raise ModelError("the calibration has numbers that are not finite")

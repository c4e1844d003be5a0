"""Binary cross-entropy of the evaluated classes, for systems without the paper's loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BCE(nn.Module):
    """Mean over the rows and the evaluated classes, with a weight for each class.

    >>> BCE(evaluated=None, weight=None)(torch.zeros(2, 3), torch.ones(2, 3))
    tensor(0.6931)
    """

    scale: Tensor | None

    def __init__(self, evaluated: NDArray[np.bool_] | None, weight: NDArray[np.float32] | None) -> None:
        super().__init__()
        scale = None if weight is None else torch.tensor(weight)
        if evaluated is not None:
            mask = torch.tensor(evaluated, dtype=torch.float32) * (len(evaluated) / int(evaluated.sum()))
            scale = mask if scale is None else mask * scale
        self.register_buffer("scale", scale, persistent=False)

    def forward(self, logits: Tensor, y: Tensor) -> Tensor:
        """Compare logits with labels, both (..., classes)."""
        return F.binary_cross_entropy_with_logits(logits, y.to(logits.dtype), weight=self.scale)

"""Validation after every epoch, which decides when to stop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from chmcnn.errors import ChmcnnError
from chmcnn.metrics import auprc
from chmcnn.training._rows import Rows, accepts_sparse, score_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Validation:
    """Rows to validate on, if any, and what is measured on them."""

    rows: Rows | None = None
    scores: Callable[[Tensor], Tensor] = torch.sigmoid
    evaluated: NDArray[np.bool_] | None = None
    device: torch.device | str = "cpu"

    def check(self) -> None:
        """Refuse rows without any label that counts."""
        if self.rows is None:
            return
        labels = self.rows.y.indices
        if not len(labels if self.evaluated is None else np.flatnonzero(self.evaluated[labels])):
            raise ChmcnnError("No validation row has any of the classes that count: there is nothing to stop by.")

    def score(self, network: nn.Module) -> float:
        """Return the AU(PRC) of a network; NaN without rows."""
        if self.rows is None:
            return math.nan
        network.eval()
        blocks = score_blocks(
            lambda x: self.scores(network(x)).float(), self.rows, self.device, keep_sparse=accepts_sparse(network)
        )
        return auprc(self.rows.y, blocks, classes=self.evaluated)

"""Validation after every epoch, which decides when to stop."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
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
    sample: Rows | None = None  # those that are scored after each epoch; None: all

    def draw(self, size: int | None, seed: int) -> Validation:
        """Return the same with a sample of the rows to score."""
        if self.rows is None or size is None or size >= len(self.rows):
            return self
        drawn = np.random.default_rng(seed).choice(len(self.rows), size, replace=False)
        return replace(self, sample=self.rows.take(np.sort(drawn)))

    @property
    def sampled(self) -> int:
        """Number of rows of the sample, if there is one."""
        return 0 if self.sample is None else len(self.sample)

    def check(self) -> None:
        """Refuse rows without any label that counts."""
        rows = self._get_scored()
        if rows is None:
            return
        labels = rows.y.indices
        if not len(labels if self.evaluated is None else np.flatnonzero(self.evaluated[labels])):
            which = f"row of the sample of {self.sampled:,}" if self.sampled else "row"
            raise ChmcnnError(f"No validation {which} has any of the classes that count: there is nothing to stop by.")

    def score(self, network: nn.Module) -> float:
        """Return the AU(PRC) of a network; NaN without rows."""
        rows = self._get_scored()
        if rows is None:
            return math.nan
        network.eval()
        blocks = score_blocks(
            lambda x: self.scores(network(x)).float(), rows, self.device, keep_sparse=accepts_sparse(network)
        )
        return auprc(rows.y, blocks, classes=self.evaluated)

    def _get_scored(self) -> Rows | None:
        return self.rows if self.sample is None else self.sample

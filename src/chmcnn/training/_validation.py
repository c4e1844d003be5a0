"""Validation after every epoch, which decides when to stop."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from chmcnn.errors import ChmcnnError
from chmcnn.metrics import divided_auprc
from chmcnn.training._ranks import ALONE
from chmcnn.training._rows import Rows, accepts_sparse, score_blocks
from chmcnn.training._sharding import is_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from torch import Tensor, nn

    from chmcnn.training._ranks import Ranks


@dataclass(frozen=True, slots=True)
class Validation:
    """Rows to validate on, if any, and what is measured on them."""

    rows: Rows | None = None
    scores: Callable[[Tensor], Tensor] = torch.sigmoid
    evaluated: NDArray[np.bool_] | None = None
    device: torch.device | str = "cpu"
    sample: Rows | None = None  # those that are scored after each epoch; None: all
    ranks: Ranks = ALONE

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
        """Return the AU(PRC) of a network on the rows of all processes, each of which scores some; NaN without rows."""
        rows, ranks = self._get_scored(), self.ranks
        if rows is None:
            return math.nan
        network.eval()
        # A network that is divided needs all processes for each block: each scores all rows.
        together = ALONE if is_sharded(network) or len(rows) < ranks.size else ranks
        rows = rows if together is ALONE else rows.take(ranks.take(np.arange(len(rows))))
        blocks = score_blocks(
            lambda x: self.scores(network(x)).float(), rows, self.device, keep_sparse=accepts_sparse(network)
        )
        score = divided_auprc(rows.y, blocks, classes=self.evaluated, join=together.concatenate, add=together.add)
        return ranks.from_first(lambda: score)

    def _get_scored(self) -> Rows | None:
        return self.rows if self.sample is None else self.sample

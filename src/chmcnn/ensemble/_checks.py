"""What an ensemble asks of its members' scores: one probability for each row and class, and no contradiction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class Checks:
    """Checks of the scores of members; ``correct`` makes them coherent, and is None to refuse those that are not."""

    hierarchy: Hierarchy
    correct: Callable[[Tensor], Tensor] | None

    def iterate(self, blocks: Iterable[NDArray[np.float32]], member: str, rows: int) -> Iterator[NDArray[np.float32]]:
        """Yield blocks of coherent scores; refuse those that are wrong, with the name of the member."""
        seen = 0
        for block in blocks:
            yield self.check(block, member)
            seen += len(block)
        if seen != rows:
            raise ChmcnnError(f"The member {member!r} returns scores of {seen} rows; expected {rows}.")

    def check(self, scores: NDArray[np.float32], member: str) -> NDArray[np.float32]:
        """Return coherent scores of some rows."""
        if scores.ndim != 2 or scores.shape[1] != len(self.hierarchy):
            raise ChmcnnError(
                f"The member {member!r} returns scores of shape {scores.shape}; expected (rows, {len(self.hierarchy)})."
            )
        if not ((scores >= 0) & (scores <= 1)).all():  # never of NaN
            raise ChmcnnError(f"The member {member!r} returns scores that are not probabilities from 0 to 1.")
        if self.correct is not None:
            return self.correct(torch.from_numpy(scores)).numpy()
        violations = self.hierarchy.violations(scores)
        if len(violations):
            raise ChmcnnError(
                f"The member {member!r} contradicts the hierarchy: {violations!r}. Use incoherent='correct' to correct "
                "its scores."
            )
        return scores

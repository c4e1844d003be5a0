"""The time that a training may take, and what it leaves out when the time is over."""

from __future__ import annotations

import math
import time
from statistics import fmean
from typing import TYPE_CHECKING

from chmcnn._wording import count
from chmcnn.training._ranks import ALONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chmcnn.training._ranks import Ranks
    from chmcnn.training._state import Epoch


class Budget:
    """A number of minutes of wall-clock time, less the seconds that are already used; None has no end.

    All processes go by the clock of the first.

    >>> Budget(None).is_over(), Budget(0.5, used=30).is_over()
    (False, True)
    """

    def __init__(self, minutes: float | None = None, used: float = 0.0, ranks: Ranks = ALONE) -> None:
        self.minutes = math.inf if minutes is None else minutes
        self._ranks = ranks
        self._start = time.monotonic() - used

    def seconds_used(self) -> float:
        """Return the time that is used."""
        return self._ranks.from_first(lambda: time.monotonic() - self._start)

    def seconds_left(self) -> float:
        """Return the time that is left, 0 if it is over."""
        return max(0.0, 60 * self.minutes - self.seconds_used())

    def is_over(self) -> bool:
        """Return whether all of the time is used."""
        return math.isfinite(self.minutes) and self.seconds_used() >= 60 * self.minutes

    def describe_end(self, epochs: int, best_epoch: int) -> str:
        """Return the notice about a training that had no time for more epochs; ``best_epoch`` is 0 if unknown."""
        kept = f"weights of epoch {best_epoch}" if best_epoch else "last weights"
        return f"The time budget of {self._total} is over after {count(epochs, 'epoch')}: the {kept} are kept."

    def describe_refit(self, epochs: int, seconds: float, best_epoch: int) -> str:
        """Return the notice about a refit for which the time does not suffice."""
        left = self.seconds_left()
        reason = (
            f"A refit of {count(epochs, 'epoch')} takes about {seconds / 60:.2g} minutes, but {left / 60:.2g} of "
            f"{self._total} are left"
            if left
            else f"The time budget of {self._total} is over before the refit has finished"
        )
        return f"{reason}: the weights of epoch {best_epoch} are kept."

    @property
    def _total(self) -> str:
        return "1 minute" if self.minutes == 1 else f"{self.minutes:g} minutes"


def estimate_seconds(history: Sequence[Epoch], epochs: int, growth: float) -> float:
    """Estimate the time of some epochs of a refit, on ``growth`` times the rows of the first phase.

    >>> from chmcnn.training import Epoch
    >>> estimate_seconds([Epoch("train", 1, 9, 0.1, 0.5, 1, seconds=2.0)], epochs=5, growth=1.25)
    12.5
    """
    return fmean(epoch.seconds for epoch in history if epoch.phase == "train") * epochs * growth

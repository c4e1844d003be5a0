"""Why a class was predicted: the predicted part of the hierarchy, with scores and who decided each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy


class Reason(NamedTuple):
    """A predicted class, its score, and the class that decided it: itself, or a descendant it was delegated to."""

    name: str
    score: float
    decided_by: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The predicted classes of one row, parents first. Printed, it is a tree."""

    hierarchy: Hierarchy
    reasons: tuple[Reason, ...]

    def __len__(self) -> int:
        """Count the predicted classes."""
        return len(self.reasons)

    def __str__(self) -> str:
        """Draw the predicted part as a tree; a class with several parents stands below the first."""
        known = {reason.name: reason for reason in self.reasons}
        return "\n".join(self._lines(known)) or "no class reaches its threshold"

    def facts(self) -> list[dict[str, str | float]]:
        """What a machine reads."""
        return [reason._asdict() for reason in self.reasons]

    def _lines(self, known: dict[str, Reason]) -> Iterator[str]:
        shown: set[str] = set()
        tops = [name for name in known if not any(parent in known for parent in self.hierarchy.parents(name))]
        stack = [(name, 0) for name in reversed(tops)]
        while stack:
            name, depth = stack.pop()
            if name in shown:
                continue
            shown.add(name)
            reason = known[name]
            by = "" if reason.decided_by == name else f"  decided by {reason.decided_by}"
            yield f"{'  ' * depth}{name}  {reason.score:.3f}{by}"
            below = [child for child in self.hierarchy.children(name) if child in known]
            stack.extend((child, depth + 1) for child in reversed(below))


def explain(
    hierarchy: Hierarchy,
    scores: NDArray[np.floating],
    deciders: NDArray[np.int64],
    thresholds: NDArray[np.float64],
) -> Explanation:
    """Explain one row from its coherent scores (classes,), and who decided each class."""
    reached = np.flatnonzero(scores >= thresholds)
    order = reached[np.argsort(hierarchy.depths[reached], kind="stable")]
    names = hierarchy.classes
    return Explanation(hierarchy, tuple(Reason(names[at], float(scores[at]), names[deciders[at]]) for at in order))

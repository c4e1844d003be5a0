"""Why a class was predicted: the predicted part of the hierarchy, with scores and delegates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from chmcnn.hierarchy import Hierarchy


class Reason(NamedTuple):
    """A predicted class, its score, and its delegate: itself, or the class that its score comes from."""

    name: str
    score: float
    delegate: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The predicted classes of one row, parents first. Printed, it is a tree."""

    hierarchy: Hierarchy
    reasons: tuple[Reason, ...]

    def __len__(self) -> int:
        """Return the number of predicted classes."""
        return len(self.reasons)

    def __str__(self) -> str:
        """Draw the predicted part as a tree, with a class that has several parents below the first."""
        return "\n".join(self._lines()) or "no class reaches its threshold"

    def facts(self) -> list[dict[str, str | float]]:
        """Return the reasons as JSON values, with the title of each class that has one."""
        titles = self.hierarchy.titles
        return [
            reason._asdict() | ({"title": titles[reason.name]} if reason.name in titles else {})
            for reason in self.reasons
        ]

    def _lines(self) -> Iterator[str]:
        reasons = {reason.name: reason for reason in self.reasons}
        shown: set[str] = set()
        tops = [name for name in reasons if not any(parent in reasons for parent in self.hierarchy.parents(name))]
        stack = [(name, 0) for name in reversed(tops)]
        while stack:
            name, depth = stack.pop()
            if name in shown:
                continue
            shown.add(name)
            reason = reasons[name]
            note = "" if reason.delegate == name else f"  delegates to {self.hierarchy.describe(reason.delegate)}"
            yield f"{'  ' * depth}{self.hierarchy.describe(name)}  {reason.score:.3f}{note}"
            children = [child for child in self.hierarchy.children(name) if child in reasons]
            stack.extend((child, depth + 1) for child in reversed(children))


def explain(
    hierarchy: Hierarchy,
    scores: NDArray[np.floating],
    delegates: NDArray[np.int64],
    thresholds: NDArray[np.float64],
) -> Explanation:
    """Explain one row from its coherent scores and its delegates, both (classes,)."""
    reached = np.flatnonzero(scores >= thresholds)
    order = reached[np.argsort(hierarchy.depths[reached], kind="stable")]
    names = hierarchy.classes
    return Explanation(hierarchy, tuple(Reason(names[at], float(scores[at]), names[delegates[at]]) for at in order))

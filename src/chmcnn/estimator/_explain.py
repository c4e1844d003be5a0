"""Why a class was predicted: the predicted part of the hierarchy, with scores and delegates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from chmcnn._typing import JSONValue
    from chmcnn.hierarchy import Hierarchy


class Reason(NamedTuple):
    """A predicted class, its score, and its delegate: itself, or the class that its score comes from."""

    name: str
    score: float
    delegate: str
    members: dict[str, float] | None = None  # scores of the members of an ensemble
    mean: float | None = None  # of several members, by their weights
    disagreement: float | None = None  # of several members

    def facts(self) -> dict[str, JSONValue]:
        """Return what is known, as JSON values."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def describe_members(self) -> str:
        """Return what the members of an ensemble say; nothing for another model."""
        if self.members is None:
            return ""
        said = ", ".join(f"{name} {score:.3f}" for name, score in self.members.items())
        if self.mean is None:
            return f"  ({said})"
        return f"  ({said}; mean {self.mean:.3f}, disagreement {self.disagreement:.3f})"


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

    def add_members(
        self,
        scores: Mapping[str, NDArray[np.floating]],
        mean: NDArray[np.floating],
        disagreement: NDArray[np.floating],
    ) -> Explanation:
        """Return the explanation with what the members of an ensemble say of each of the classes (classes,).

        One member alone has no mean, and disagrees with nobody.
        """
        places, several = [self.hierarchy.index(reason.name) for reason in self.reasons], len(scores) > 1
        reasons = (
            reason._replace(
                members={name: float(values[at]) for name, values in scores.items()},
                mean=float(mean[at]) if several else None,
                disagreement=float(disagreement[at]) if several else None,
            )
            for at, reason in zip(places, self.reasons, strict=True)
        )
        return Explanation(self.hierarchy, tuple(reasons))

    def facts(self) -> list[dict[str, JSONValue]]:
        """Return the reasons as JSON values, with the title of each class that has one."""
        titles = self.hierarchy.titles
        return [
            reason.facts() | ({"title": titles[reason.name]} if reason.name in titles else {})
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
            yield f"{'  ' * depth}{self.hierarchy.describe(name)}  {reason.score:.3f}{note}{reason.describe_members()}"
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

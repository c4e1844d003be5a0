"""The systems that the paper compares with, as estimators with the classifier's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn._names import nearest
from chmcnn.baselines.ablations import HMCM, FPlus, FPlusMax, GPlus, HPlus
from chmcnn.baselines.hmcn import HMCNF, HMCNR
from chmcnn.classifier import CHMCNNClassifier
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from chmcnn.estimator import HierarchicalClassifier

__all__ = ["HMCM", "HMCNF", "HMCNR", "SYSTEMS", "FPlus", "FPlusMax", "GPlus", "HPlus", "system"]

SYSTEMS: dict[str, type[HierarchicalClassifier]] = {
    "C-HMCNN": CHMCNNClassifier,
    "f+": FPlus,
    "f+max": FPlusMax,
    "g+": GPlus,
    "h+": HPlus,
    "h+MCM": HMCM,
    "HMCN-F": HMCNF,
    "HMCN-R": HMCNR,
}
"""All systems, by the names of the paper."""


def system(name: str) -> type[HierarchicalClassifier]:
    """Look one up.

    >>> system("h+MCM").__name__
    'HMCM'
    """
    if name not in SYSTEMS:
        near = nearest(name, tuple(SYSTEMS))
        hint = f" Did you mean {near!r}?" if near else ""
        raise ChmcnnError(f"Unknown system {name!r}.{hint} Systems: {', '.join(SYSTEMS)}.")
    return SYSTEMS[name]

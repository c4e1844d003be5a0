"""The systems that the paper compares with, as estimators with the classifier's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn._wording import nearest
from chmcnn.baselines._rules import Node
from chmcnn.baselines.ablations import HMCM, FPlus, FPlusMax, GPlus, HPlus
from chmcnn.baselines.clus import ClusHMC
from chmcnn.baselines.clus_ens import ClusEns
from chmcnn.baselines.dhn import DHN
from chmcnn.baselines.extra_trees import ExtraTrees
from chmcnn.baselines.flat import HiClass, Logistic
from chmcnn.baselines.hmcn import HMCNF, HMCNR
from chmcnn.baselines.kernel_ridge import KernelRidge
from chmcnn.baselines.linear import Linear
from chmcnn.baselines.lmlp import LMLP
from chmcnn.baselines.neighbours import Neighbours
from chmcnn.baselines.wrapped import Coherent
from chmcnn.classifier import CHMCNNClassifier
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Callable

    from chmcnn.estimator import HierarchicalClassifier

__all__ = [
    "DHN",
    "HMCM",
    "HMCNF",
    "HMCNR",
    "LMLP",
    "SYSTEMS",
    "ClusEns",
    "ClusHMC",
    "Coherent",
    "ExtraTrees",
    "FPlus",
    "FPlusMax",
    "GPlus",
    "HPlus",
    "HiClass",
    "KernelRidge",
    "Linear",
    "Logistic",
    "Neighbours",
    "Node",
    "system",
]

SYSTEMS: dict[str, type[HierarchicalClassifier]] = {
    "C-HMCNN": CHMCNNClassifier,
    "HMCN-F": HMCNF,
    "HMCN-R": HMCNR,
    "HMC-LMLP": LMLP,
    "Clus-HMC": ClusHMC,
    "Clus-Ens": ClusEns,
    "DHN": DHN,
    "f+": FPlus,
    "f+max": FPlusMax,
    "g+": GPlus,
    "h+": HPlus,
    "h+MCM": HMCM,
    "KernelRidge": KernelRidge,
    "ExtraTrees": ExtraTrees,
    "Neighbours": Neighbours,
    "Linear": Linear,
    "Logistic": Logistic,
    "hiclass": HiClass,
}
"""All systems by name: those of the paper, its variants of C-HMCNN(h), members of ensembles, and flat ones."""


def system(name: str) -> Callable[..., HierarchicalClassifier]:
    """Return the estimator class of a system.

    >>> system("h+MCM").__name__
    'HMCM'
    """
    if name not in SYSTEMS:
        near = nearest(name, tuple(SYSTEMS))
        hint = f" Did you mean {near!r}?" if near else ""
        raise ChmcnnError(f"Unknown system {name!r}.{hint} Systems: {', '.join(SYSTEMS)}.")
    return SYSTEMS[name]

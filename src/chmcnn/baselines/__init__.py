"""The systems that the paper compares with, as estimators with the classifier's interface."""

from __future__ import annotations

from pathlib import Path
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
from chmcnn.baselines.wrapped import Coherent, check_system_scores
from chmcnn.classifier import CHMCNNClassifier
from chmcnn.errors import ChmcnnError, ModelError
from chmcnn.estimator import read_system

if TYPE_CHECKING:
    from collections.abc import Callable

    from chmcnn.estimator import HierarchicalClassifier, NetworkLike

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
    "check_system_scores",
    "load_model",
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


def load_model(path: str | Path, *, network: NetworkLike = None, device: str = "auto") -> HierarchicalClassifier:
    """Read a model of any system, which its ``save`` wrote. Reading never runs code.

    Parameters
    ----------
    path
        The folder of the model.
    network
        The custom network that the model was trained with, if there was one.
    device
        Torch device of a network.

    Examples
    --------
    >>> import tempfile
    >>> from chmcnn import CHMCNNClassifier
    >>> model = CHMCNNClassifier(epochs=1, random_state=0).fit([[0.0], [1.0]] * 5, ["a/b", "a/c"] * 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     type(load_model(f"{folder}/model")).__name__
    'CHMCNNClassifier'
    """
    name, kinds = read_system(Path(path)), {kind.__name__: kind for kind in SYSTEMS.values()}
    if name not in kinds:
        raise ModelError(
            f"a model of {name}, which is not a system of this version; load it with its class", Path(path)
        )
    return kinds[name].load(path, network=network, device=device)

"""All systems by name, with the presets of ensembles, and the models of any of them in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn import baselines
from chmcnn.ensemble._ensemble import CoherentEnsemble
from chmcnn.errors import ModelError
from chmcnn.estimator import read_system

if TYPE_CHECKING:
    from chmcnn._typing import JSONValue
    from chmcnn.estimator import HierarchicalClassifier, NetworkLike
    from chmcnn.hierarchy import Hierarchy


class _PresetEnsemble(CoherentEnsemble):
    """An ensemble whose preset is not a parameter: a preset for all systems of a comparison is not for it."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return [name for name in super()._get_param_names() if name != "preset"]


class BestEnsemble(_PresetEnsemble):
    """`CoherentEnsemble` with the preset ``"best"``."""

    def __init__(self, hierarchy: Hierarchy | None = None, **options: JSONValue) -> None:
        super().__init__(hierarchy, preset="best", **options)


class FastEnsemble(_PresetEnsemble):
    """`CoherentEnsemble` with the preset ``"fast"``."""

    def __init__(self, hierarchy: Hierarchy | None = None, **options: JSONValue) -> None:
        super().__init__(hierarchy, preset="fast", **options)


SYSTEMS: dict[str, type[HierarchicalClassifier]] = {
    **baselines.SYSTEMS,
    "best": BestEnsemble,
    "fast": FastEnsemble,
}
"""All systems by name: those of `chmcnn.baselines`, and the presets of ensembles."""


def load_model(
    path: str | Path,
    *,
    network: NetworkLike = None,
    device: str = "auto",
    verify_key: str | Path | bytes | None = None,
) -> HierarchicalClassifier:
    """Read a model of any system, or an ensemble, which its ``save`` wrote. Reading never runs code.

    Parameters
    ----------
    path
        The folder of the model.
    network
        The custom network that the model was trained with, if there was one.
    device
        Torch device of networks.
    verify_key
        PEM file with an Ed25519 public key, or its content: the model is refused unless it has a signature of that key,
        by `chmcnn.sign_model` or ``chmcnn sign``, and is unchanged since.

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
    kinds: dict[str, type[HierarchicalClassifier]] = {kind.__name__: kind for kind in SYSTEMS.values()}
    kinds[CoherentEnsemble.__name__] = CoherentEnsemble
    name = read_system(Path(path), verify_key)
    if name not in kinds:
        raise ModelError(
            f"a model of {name}, which is not a system of this version; load it with its class", Path(path)
        )
    return kinds[name].load(path, network=network, device=device, verify_key=verify_key)

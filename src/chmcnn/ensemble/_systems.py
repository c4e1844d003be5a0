"""The presets as systems of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn import baselines
from chmcnn.ensemble._ensemble import CoherentEnsemble

if TYPE_CHECKING:
    from chmcnn._typing import JSONValue
    from chmcnn.estimator import HierarchicalClassifier
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

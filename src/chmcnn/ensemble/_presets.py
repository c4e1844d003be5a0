"""The members of each preset: one rule for all problems, by the form of the preprocessed features.

`python -m benchmarks.ensembles` measures what each member brings, on rows held out from training and validation rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chmcnn._wording import nearest
from chmcnn.baselines import ExtraTrees, KernelRidge, Linear, Neighbours
from chmcnn.classifier import CHMCNNClassifier
from chmcnn.ensemble._members import Member
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chmcnn._typing import JSONValue

_MOST_PRODUCTS = 5e9
"""Size of a problem above which the linear model steps aside: it would take longer than the network."""


def choose_members(preset: str, network: Mapping[str, JSONValue], *, sparse: bool) -> list[Member]:
    """Return the members of a preset, not fitted; ``network`` has settings of its network.

    >>> for preset in ("best", "fast"):
    ...     [[member.name for member in choose_members(preset, {}, sparse=sparse)] for sparse in (False, True)]
    [['network', 'neighbours', 'ridge', 'trees'], ['network', 'neighbours', 'linear']]
    [['neighbours', 'ridge'], ['neighbours']]
    """
    neighbours, ridge = Member("neighbours", Neighbours()), Member("ridge", KernelRidge())
    if preset == "fast":
        if network:
            raise ChmcnnError(f"The preset 'fast' has no network: {', '.join(network)} would have no effect.")
        return [neighbours] if sparse else [neighbours, ridge]
    linear = Member("linear", Linear(most_products=_MOST_PRODUCTS), optional=True)
    others = [linear] if sparse else [ridge, Member("trees", ExtraTrees())]
    return [Member("network", _create_network(network)), neighbours, *others]


def _create_network(settings: Mapping[str, JSONValue]) -> CHMCNNClassifier:
    known = CHMCNNClassifier().get_params(deep=False)
    for name in settings.keys() - known.keys():
        near = nearest(name, list(known))
        hint = f" Did you mean {near!r}?" if near else " See chmcnn.CHMCNNClassifier for those that it has."
        raise ChmcnnError(f"network_settings has {name!r}, which is no setting of the network.{hint}")
    return CHMCNNClassifier(**settings)

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
_MOST_PRODUCTS_FAST = 1e8
"""The same for the preset ``"fast"``: it takes some seconds."""
_MOST_ROWS = 10_000
"""Rows above which trees on sparse features step aside: larger tables with text were not tried."""
_FILLED = 0.1
"""Share of the rows in which a sparse feature is filled that trees split on: words are for the other members."""


def choose_members(preset: str, network: Mapping[str, JSONValue], *, sparse: bool) -> list[Member]:
    """Return the members of a preset, not fitted; ``network`` has settings of its network.

    >>> for preset in ("best", "fast"):
    ...     [[member.name for member in choose_members(preset, {}, sparse=sparse)] for sparse in (False, True)]
    [['network', 'neighbours', 'ridge', 'trees'], ['network', 'neighbours', 'linear', 'trees']]
    [['neighbours', 'ridge'], ['neighbours', 'linear']]
    """
    neighbours, ridge = Member("neighbours", Neighbours()), Member("ridge", KernelRidge())
    if preset == "fast":
        if network:
            raise ChmcnnError(f"The preset 'fast' has no network: {', '.join(network)} would have no effect.")
        return [neighbours, _create_linear(_MOST_PRODUCTS_FAST) if sparse else ridge]
    trees = ExtraTrees(min_filled=_FILLED, most_rows=_MOST_ROWS) if sparse else ExtraTrees()
    others = [_create_linear(_MOST_PRODUCTS) if sparse else ridge, Member("trees", trees, optional=sparse)]
    return [Member("network", _create_network(network)), neighbours, *others]


def _create_linear(most_products: float) -> Member:
    return Member("linear", Linear(most_products=most_products), optional=True)


def _create_network(settings: Mapping[str, JSONValue]) -> CHMCNNClassifier:
    known = CHMCNNClassifier().get_params(deep=False)
    for name in settings.keys() - known.keys():
        near = nearest(name, list(known))
        hint = f" Did you mean {near!r}?" if near else " See chmcnn.CHMCNNClassifier for those that it has."
        raise ChmcnnError(f"network_settings has {name!r}, which is no setting of the network.{hint}")
    return CHMCNNClassifier(**settings)

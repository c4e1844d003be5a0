"""Settings of a training that an ensemble does not have itself: those of the network in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chmcnn.ensemble._ensemble import CoherentEnsemble
from chmcnn.errors import ChmcnnError
from chmcnn.settings import SETTINGS

if TYPE_CHECKING:
    from chmcnn._typing import JSONValue

NETWORK_SETTINGS = tuple(name for name in SETTINGS if name not in CoherentEnsemble().get_params(deep=False))
"""Names of the settings that only the network of an ensemble has."""


def gather_network_settings(settings: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """Return the parameters of an ensemble: settings of its network are in ``network_settings``.

    >>> gather_network_settings({"epochs": 3, "dropout": 0.5, "threshold": 0.3, "network_settings": {"dropout": 0.1}})
    {'threshold': 0.3, 'network_settings': {'epochs': 3, 'dropout': 0.1}}
    """
    network = {name: value for name, value in settings.items() if name in NETWORK_SETTINGS}
    own = {name: value for name, value in settings.items() if name not in NETWORK_SETTINGS}
    given = own.get("network_settings") or {}
    if not isinstance(given, Mapping):
        raise ChmcnnError(f'network_settings is {given!r}; expected settings by name, such as {{"epochs": 50}}.')
    return own | {"network_settings": {**network, **given}} if network else own

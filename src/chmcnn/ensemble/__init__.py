"""Ensembles of coherent members, and the presets ``best`` and ``fast``."""

from chmcnn.ensemble._ensemble import CoherentEnsemble
from chmcnn.ensemble._network_settings import NETWORK_SETTINGS, gather_network_settings
from chmcnn.ensemble._systems import SYSTEMS, BestEnsemble, FastEnsemble, load_model

__all__ = [
    "NETWORK_SETTINGS",
    "SYSTEMS",
    "BestEnsemble",
    "CoherentEnsemble",
    "FastEnsemble",
    "gather_network_settings",
    "load_model",
]

"""Ensembles of coherent members, and the presets ``best`` and ``fast``."""

from chmcnn.ensemble._ensemble import CoherentEnsemble
from chmcnn.ensemble._systems import SYSTEMS, BestEnsemble, FastEnsemble, load_model

__all__ = ["SYSTEMS", "BestEnsemble", "CoherentEnsemble", "FastEnsemble", "load_model"]

"""Ensembles of coherent members, and the presets ``best`` and ``fast``."""

from chmcnn.ensemble._ensemble import CoherentEnsemble

__all__ = ["CoherentEnsemble"]

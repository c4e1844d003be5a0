"""The neighbours that benchmarks compare with: their settings are fixed, and nothing is chosen."""

from chmcnn.baselines import Neighbours
from chmcnn.hierarchy import Hierarchy


def create_neighbours(hierarchy: Hierarchy) -> Neighbours:
    """Return the mean labels of the 15 nearest rows, weighted by similarity, on features as they are."""
    return Neighbours(hierarchy, n_neighbours=15, power=1, smoothing=0.1, validation=0, preprocess=False)

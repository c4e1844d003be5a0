"""Hierarchies, labels and scores of every shape, for hypothesis."""

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from chmcnn import Hierarchy


@st.composite
def hierarchies(draw: st.DrawFn, max_classes: int = 14) -> Hierarchy:
    """Trees, chains, stars, DAGs and forests, with and without lone classes, the columns in any order."""
    size = draw(st.integers(1, max_classes))
    shape = draw(st.sampled_from(["dag", "tree", "chain", "star", "forest"]))
    edges: set[tuple[int, int]] = set()
    for child in range(1, size):
        if shape == "chain":
            edges.add((child - 1, child))
        elif shape == "star":
            edges.add((0, child))
        else:
            fewest = 1 if shape == "tree" else 0
            most = 3 if shape == "dag" else 1
            parents = draw(st.lists(st.integers(0, child - 1), min_size=fewest, max_size=most, unique=True))
            edges |= {(parent, child) for parent in parents}
    order = draw(st.permutations(range(size)))
    return Hierarchy([f"c{number}" for number in order], [(order.index(p), order.index(c)) for p, c in sorted(edges)])


@st.composite
def labels(draw: st.DrawFn, hierarchy: Hierarchy, rows: int) -> Tensor:
    """Labels closed under ancestors."""
    sets = draw(st.lists(st.sets(st.sampled_from(hierarchy.classes), max_size=4), min_size=rows, max_size=rows))
    return torch.tensor(hierarchy.encode(sets))


def scores(hierarchy: Hierarchy, rows: int, *, ties: bool = False) -> st.SearchStrategy[Tensor]:
    """Probabilities strictly between 0 and 1, all different, or with many ties."""
    size = rows * len(hierarchy)

    def make(seed: int) -> Tensor:
        random = np.random.default_rng(seed)
        values = random.integers(1, 4, size) / 4 if ties else random.permutation(size * 2)[:size] / (size * 2) + 1e-3
        return torch.tensor(values, dtype=torch.float64).clamp(max=0.999).reshape(rows, len(hierarchy))

    return st.integers(0, 2**32 - 1).map(make)

import gc
import weakref

import torch

from chmcnn.constraint._indexed import IndexedHierarchy, index_hierarchy
from chmcnn.datasets.synthetic import random_hierarchy


def test_a_hierarchy_is_indexed_once_and_forgotten_with_it() -> None:
    hierarchy = random_hierarchy(20, depth=3)
    device = torch.device("cpu")
    indexed = weakref.ref(index_hierarchy(hierarchy, device))
    assert index_hierarchy(hierarchy, device) is indexed()
    del hierarchy
    gc.collect()
    assert indexed() is None


def test_every_parent_has_its_first_edge_before_any_has_its_second() -> None:
    hierarchy = random_hierarchy(200, edges=320, depth=5)
    indexed = IndexedHierarchy(hierarchy)
    pairs = zip(indexed.edge_parents.tolist(), indexed.edge_children.tolist(), strict=True)
    assert sorted(pairs) == sorted(map(tuple, hierarchy.edges.tolist()))
    for parents, _ in indexed.levels(1):
        turns = [parents[:at, 0].tolist().count(parent) for at, parent in enumerate(parents[:, 0].tolist())]
        assert turns == sorted(turns)

"""Compare ways to find the delegates, on the Gene Ontology, with labels.

python -m benchmarks.ways
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor

from benchmarks import shapes
from benchmarks.measure import median_seconds, save
from chmcnn import Hierarchy
from chmcnn.constraint import IndexedHierarchy, _kernel
from chmcnn.constraint._delegates import find_delegates_by_level, signed_integers
from chmcnn.constraint._keys import LABEL_SHIFT, RANK_MASK, SCORE_SHIFT

BATCHES = (4, 64, 256, 2048)
Way = Callable[[Tensor, Tensor], Tensor]


def main() -> None:
    """Measure every way, check that all agree, and write results/ways.json."""
    hierarchy, origin = shapes.load("GO")
    rows: list[dict[str, Any]] = []
    for batch in BATCHES:
        bits = torch.randn(batch, len(hierarchy)).view(torch.int32)
        y = torch.tensor(hierarchy.encode([{hierarchy.classes[row]} for row in range(batch)]))
        delegates = {name: way(bits, y) for name, way in ways(hierarchy).items()}
        if any(not torch.equal(index, delegates["compiled loop"]) for index in delegates.values()):
            raise AssertionError("the ways do not agree")
        times = median_seconds({name: _call(way, bits, y) for name, way in ways(hierarchy).items()}, rounds=30)
        for name, time in times.items():
            rows.append({"origin": origin, "batch": batch, "way": name, "milliseconds": time * 1e3})
            print(f"{batch:5} {name:45} {time * 1e3:9.3f} ms")
    print(save("ways", "python -m benchmarks.ways", rows))


def ways(hierarchy: Hierarchy) -> dict[str, Way]:
    """Return the ways, by name."""
    indexed = IndexedHierarchy(hierarchy)
    edges, _ = hierarchy.bottom_up()
    ancestors, descendants = _pairs(hierarchy)
    by_parent = (indexed.base_keys, indexed.class_by_rank, *(torch.tensor(column.copy()) for column in edges.T))

    def all_pairs(bits: Tensor, y: Tensor) -> Tensor:
        keys = _keys(bits, y, indexed)  # (rows, classes)
        return _classes(keys.scatter_reduce(1, ancestors.expand(len(keys), -1), keys[:, descendants], "amax"), indexed)

    def rows_contiguous(bits: Tensor, y: Tensor) -> Tensor:
        keys = _keys(bits, y, indexed)
        for parents, children in indexed.levels(1):
            keys.scatter_reduce_(1, parents.t().expand(len(keys), -1), keys.index_select(1, children), "amax")
        return _classes(keys, indexed)

    def classes_contiguous(bits: Tensor, y: Tensor) -> Tensor:
        keys = _keys(bits, y, indexed).t().contiguous()
        for parents, children in indexed.levels(len(bits)):
            keys.scatter_reduce_(0, parents, keys.index_select(0, children), "amax")
        return _classes(keys.t().contiguous(), indexed)

    def compiled(bits: Tensor, y: Tensor) -> Tensor:
        index: Tensor = _kernel.find_delegates(bits, y, *indexed.tensors)[0]
        return index

    def two_threads(bits: Tensor, y: Tensor) -> Tensor:
        with ThreadPoolExecutor(2) as pool:
            parts = pool.map(compiled, bits.chunk(2), y.chunk(2))
            return torch.cat(list(parts))

    return {
        "all pairs of class and ancestor": all_pairs,
        "by level, rows contiguous": rows_contiguous,
        "by level, classes contiguous, as int64": classes_contiguous,
        "by level, classes contiguous, as float64": lambda bits, y: find_delegates_by_level(bits, y, indexed),
        "compiled loop, the edges of a parent together": lambda bits, y: _kernel.find_delegates(bits, y, *by_parent)[0],
        "compiled loop": compiled,
        "compiled loop, two threads": two_threads,
    }


def _call(way: Way, bits: Tensor, y: Tensor) -> Callable[[], Tensor]:
    return lambda: way(bits, y)


def _keys(bits: Tensor, y: Tensor, indexed: IndexedHierarchy) -> Tensor:
    keys = signed_integers(bits).to(torch.int64)
    return keys.mul_(1 << SCORE_SHIFT).add_(indexed.base_keys).add_(y, alpha=1 << LABEL_SHIFT)


def _classes(keys: Tensor, indexed: IndexedHierarchy) -> Tensor:
    return indexed.class_by_rank.expand(len(keys), -1).gather(1, keys & RANK_MASK)


def _pairs(hierarchy: Hierarchy) -> tuple[Tensor, Tensor]:
    positions = [
        (hierarchy.index(ancestor), position)
        for position, name in enumerate(hierarchy.classes)
        for ancestor in hierarchy.ancestors(name)
    ]
    pairs = torch.tensor(positions)
    return pairs[:, 0], pairs[:, 1]


if __name__ == "__main__":
    main()

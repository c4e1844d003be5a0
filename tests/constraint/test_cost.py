"""Cost, with a wide margin for busy machines: `make bench` measures it properly."""

import time
from collections.abc import Callable

import torch
from tests import dense

from chmcnn.constraint import max_constraint, mc_loss
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.experiments._memory import peak_bytes


def best(call: Callable[[], object], times: int = 5) -> float:
    def once() -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    call()
    return min(once() for _ in range(times))


def test_a_million_classes_forward_and_backward() -> None:
    hierarchy = random_hierarchy(1_000_000, edges=1_400_000, depth=14)
    logits = torch.randn(4, 1_000_000, requires_grad=True)
    y = torch.tensor(hierarchy.encode([{hierarchy.classes[-1]}] * 4))
    for loss in (lambda: mc_loss(logits, y, hierarchy), lambda: max_constraint(logits, hierarchy).sum()):

        def both(loss: Callable[[], torch.Tensor] = loss) -> object:
            return torch.autograd.grad(loss(), logits)

        assert best(both, times=3) < 1
        assert peak_bytes(both) < 200e6


def test_far_faster_than_the_dense_formula_on_the_shape_of_the_gene_ontology() -> None:
    hierarchy = random_hierarchy(4126, edges=5827, depth=14)
    scores, mask = torch.rand(1, 4126), dense.subclass_mask(hierarchy).float()
    ours = best(lambda: max_constraint(scores, hierarchy))
    assert best(lambda: dense.max_constraint(scores, mask), times=2) > 20 * ours

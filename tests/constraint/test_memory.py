"""Bytes that the constraint allocates; `make bench` measures its time."""

from collections.abc import Callable

import torch
from tests import dense

from chmcnn.constraint import max_constraint, mc_loss
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.experiments._memory import peak_bytes


def warm_peak_bytes(call: Callable[[], object]) -> int:
    call()
    return peak_bytes(call)


def test_200_000_classes_forward_and_backward_take_less_than_40_megabytes() -> None:
    hierarchy = random_hierarchy(200_000, edges=280_000, depth=14)
    logits = torch.randn(4, 200_000, requires_grad=True)
    y = torch.tensor(hierarchy.encode([{hierarchy.classes[-1]}] * 4))
    assert warm_peak_bytes(lambda: torch.autograd.grad(mc_loss(logits, y, hierarchy), logits)) < 40e6
    assert warm_peak_bytes(lambda: torch.autograd.grad(max_constraint(logits, hierarchy).sum(), logits)) < 40e6


def test_it_takes_far_less_memory_than_the_dense_formula_on_the_shape_of_the_gene_ontology() -> None:
    hierarchy = random_hierarchy(4126, edges=5827, depth=14)
    scores, mask = torch.rand(1, 4126), dense.subclass_mask(hierarchy).float()
    ours = warm_peak_bytes(lambda: max_constraint(scores, hierarchy))
    assert warm_peak_bytes(lambda: dense.max_constraint(scores, mask)) > 20 * ours

"""The hierarchy as sparse matrices, for the loss without numba."""

import copy
from itertools import pairwise

import pytest
import torch

from chmcnn import Hierarchy
from chmcnn.constraint import _steps, mc_loss
from chmcnn.constraint._delegates import highest_scores_by_level
from chmcnn.constraint._indexed import IndexedHierarchy
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.nn import MCLoss


@pytest.mark.parametrize("more_pairs", [-1, 20, 10_000])
def test_steps_of_any_length_complete_all_classes(monkeypatch: pytest.MonkeyPatch, more_pairs: int) -> None:
    monkeypatch.setattr(_steps, "_MORE_PAIRS", more_pairs)
    indexed = IndexedHierarchy(random_hierarchy(200, edges=320, depth=8))
    scores = torch.rand(3, 200, dtype=torch.float64)
    ascent, expected = _steps.find_ascent(indexed), highest_scores_by_level(scores, indexed)
    values = torch.cat((scores.t(), torch.zeros(len(ascent.inner), 3, dtype=torch.float64)))
    for part, matrix in ascent.steps:
        values[200:][part] = torch.sparse.mm(matrix, values, "amax")
    assert torch.equal(values[200:].t(), expected[:, ascent.inner])
    assert sorted(ascent.inner) == indexed.inner.tolist() == ascent.has_children.nonzero()[0].tolist()


def test_a_long_chain_takes_few_steps() -> None:
    names = [f"{depth:03}" for depth in range(400)]
    indexed = IndexedHierarchy(Hierarchy.from_edges(pairwise(names)))
    assert len(indexed.level_sizes) == 399
    assert len(_steps.find_ascent(indexed).steps) == 2


def test_the_lowest_base_key_is_that_of_the_least_deep_class_then_of_the_first() -> None:
    indexed = IndexedHierarchy(random_hierarchy(200, edges=320, depth=8))
    ascent = _steps.find_ascent(indexed)
    assert torch.equal(ascent.base_keys.argsort(descending=True), indexed.class_by_rank)
    assert torch.equal(ascent.base_keys & ascent.class_mask, torch.arange(200))


def test_the_loss_is_the_same_where_base_keys_have_too_many_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chmcnn.constraint._delegates._kernel", None)
    hierarchy = random_hierarchy(20, depth=3)
    logits, y = torch.randn(2, 20), torch.zeros(2, 20)
    expected = mc_loss(logits, y, IndexedHierarchy(hierarchy))
    monkeypatch.setattr(_steps, "SCORE_SHIFT", 2)
    indexed = IndexedHierarchy(hierarchy)
    torch.testing.assert_close(mc_loss(logits, y, indexed), expected)
    assert not _steps.find_ascent(indexed).fits


def test_a_loss_can_be_copied_after_its_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chmcnn.constraint._delegates._kernel", None)
    loss = MCLoss(random_hierarchy(20, depth=3))
    logits, y = torch.randn(2, 20), torch.zeros(2, 20)
    assert copy.deepcopy(loss)(logits, y) == loss(logits, y)
    assert copy.deepcopy(loss)(logits, y) == loss(logits, y)

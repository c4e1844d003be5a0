"""The theorems of the paper, on hierarchies of every shape."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import dense
from tests.strategies import hierarchies, labels, scores

from chmcnn import Hierarchy
from chmcnn.constraint import delegates, max_constraint, mc_loss, min_constraint

pytestmark = pytest.mark.usefixtures("path")
# The fixture chooses a path once for all examples, which is what is wanted.
each_path = settings(max_examples=50)
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@each_path
@given(data=st.data(), dtype=st.sampled_from(DTYPES), ties=st.booleans())
def test_no_class_scores_above_an_ancestor(data: st.DataObject, dtype: torch.dtype, ties: bool) -> None:
    hierarchy = data.draw(hierarchies())
    raw = data.draw(scores(hierarchy, rows=3, ties=ties)).to(dtype)
    constrained = max_constraint(raw, hierarchy).double()
    position = {name: number for number, name in enumerate(hierarchy.classes)}
    for name in hierarchy.classes:
        for ancestor in hierarchy.ancestors(name):
            assert (constrained[:, position[name]] <= constrained[:, position[ancestor]]).all()
    assert len(hierarchy.violations(constrained)) == 0


@each_path
@given(data=st.data(), threshold=st.floats(0, 1))
def test_thresholded_predictions_are_closed_at_every_threshold(data: st.DataObject, threshold: float) -> None:
    hierarchy = data.draw(hierarchies())
    predicted = max_constraint(data.draw(scores(hierarchy, rows=3)), hierarchy).numpy() >= threshold
    np.testing.assert_array_equal(hierarchy.close(predicted), predicted)


@each_path
@given(data=st.data(), dtype=st.sampled_from(DTYPES))
def test_constraining_twice_changes_nothing(data: st.DataObject, dtype: torch.dtype) -> None:
    hierarchy = data.draw(hierarchies())
    once = max_constraint(data.draw(scores(hierarchy, rows=3)).to(dtype), hierarchy)
    assert torch.equal(max_constraint(once, hierarchy), once)


@each_path
@given(data=st.data(), ties=st.booleans())
def test_the_order_of_classes_does_not_matter(data: st.DataObject, ties: bool) -> None:
    hierarchy = data.draw(hierarchies())
    raw = data.draw(scores(hierarchy, rows=2, ties=ties))
    y = data.draw(labels(hierarchy, rows=2))
    order = data.draw(st.permutations(range(len(hierarchy))))
    names = [hierarchy.classes[number] for number in order]
    edges = [(hierarchy.classes[parent], hierarchy.classes[child]) for parent, child in hierarchy.edges.tolist()]
    shuffled = Hierarchy.from_edges(edges, classes=names)
    assert torch.equal(max_constraint(raw[:, order], shuffled), max_constraint(raw, hierarchy)[:, order])
    each = mc_loss(raw.logit(), y, hierarchy, reduction="none")
    assert torch.equal(mc_loss(raw.logit()[:, order], y[:, order], shuffled, reduction="none"), each[:, order])


@each_path
@given(data=st.data(), ties=st.booleans())
def test_constraint_equals_the_dense_formula(data: st.DataObject, ties: bool) -> None:
    hierarchy = data.draw(hierarchies())
    raw = data.draw(scores(hierarchy, rows=3, ties=ties)).requires_grad_()
    mask = dense.subclass_mask(hierarchy)
    ours, theirs = max_constraint(raw, hierarchy), dense.max_constraint(raw, mask)
    assert torch.equal(ours, theirs)
    if not ties:
        weight = torch.linspace(0.5, 2, raw.numel(), dtype=torch.float64).reshape(raw.shape)
        torch.testing.assert_close(_gradient(ours * weight, raw), _gradient(theirs * weight, raw))


@each_path
@given(data=st.data(), dtype=st.sampled_from([torch.float32, torch.float64]))
def test_loss_equals_the_dense_formula(data: st.DataObject, dtype: torch.dtype) -> None:
    hierarchy = data.draw(hierarchies())
    raw = data.draw(scores(hierarchy, rows=3)).logit().to(dtype).requires_grad_()
    y = data.draw(labels(hierarchy, rows=3))
    ours = mc_loss(raw, y, hierarchy, reduction="none")
    theirs = dense.mc_loss(raw.double().sigmoid(), y.double(), dense.subclass_mask(hierarchy))
    torch.testing.assert_close(ours.double(), theirs, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(_gradient(ours, raw), _gradient(theirs, raw), rtol=1e-4, atol=1e-6)


@each_path
@given(data=st.data(), ties=st.booleans(), dtype=st.sampled_from(DTYPES))
def test_delegates_fit_the_definition(data: st.DataObject, ties: bool, dtype: torch.dtype) -> None:
    hierarchy = data.draw(hierarchies())
    raw = data.draw(scores(hierarchy, rows=2, ties=ties)).to(dtype)
    index, constrained = delegates(raw, hierarchy), max_constraint(raw, hierarchy)
    for row in range(2):
        for position, name in enumerate(hierarchy.classes):
            delegate = int(index[row, position])
            assert raw[row, delegate] == constrained[row, position]
            if delegate != position:  # it delegates: to a subclass, which scores higher
                assert hierarchy.classes[delegate] in hierarchy.descendants(name)
                assert raw[row, delegate] > raw[row, position]


@each_path
@given(data=st.data())
def test_with_ties_the_gradient_goes_to_the_delegate_alone(data: st.DataObject) -> None:
    hierarchy = data.draw(hierarchies())
    raw = data.draw(scores(hierarchy, rows=2, ties=True)).requires_grad_()
    weight = torch.arange(1.0, raw.numel() + 1, dtype=torch.float64).reshape(raw.shape)
    expected = torch.zeros_like(weight).scatter_add(-1, delegates(raw, hierarchy), weight)
    assert torch.equal(_gradient(max_constraint(raw, hierarchy) * weight, raw), expected)


def _gradient(values: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(values.sum(), source)[0]


@each_path
@given(data=st.data(), ties=st.booleans())
def test_the_minimum_over_ancestors_is_the_other_way_to_coherence(data: st.DataObject, ties: bool) -> None:
    hierarchy = data.draw(hierarchies())
    raw = data.draw(scores(hierarchy, rows=3, ties=ties))
    constrained = min_constraint(raw, hierarchy)
    assert len(hierarchy.violations(constrained)) == 0
    for number, name in enumerate(hierarchy.classes):
        above = [hierarchy.index(ancestor) for ancestor in (name, *hierarchy.ancestors(name))]
        assert torch.equal(constrained[:, number], raw[:, above].amin(dim=1))


@each_path
@given(data=st.data(), dtype=st.sampled_from(DTYPES), ties=st.booleans(), logits=st.booleans())
def test_inference_gives_the_same_values(data: st.DataObject, dtype: torch.dtype, ties: bool, logits: bool) -> None:
    hierarchy = data.draw(hierarchies())
    raw = data.draw(scores(hierarchy, rows=3, ties=ties)).to(dtype)
    raw = raw.logit() if logits else raw
    with torch.inference_mode():
        found = max_constraint(raw, hierarchy)
        turned = max_constraint(raw.t().contiguous().t(), hierarchy)
    expected = max_constraint(raw, hierarchy)
    assert found.dtype == dtype
    assert torch.equal(found, expected)
    assert torch.equal(turned, expected)

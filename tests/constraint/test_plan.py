import gc
import subprocess
import sys
import weakref
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import hierarchies, labels, scores

from chmcnn.constraint import _kernel, _plan
from chmcnn.datasets.synthetic import random_hierarchy


@settings(deadline=None)
@given(
    data=st.data(), ties=st.booleans(), labelled=st.booleans(), dtype=st.sampled_from([torch.float32, torch.float64])
)
def test_both_paths_decide_alike(data: st.DataObject, ties: bool, labelled: bool, dtype: torch.dtype) -> None:
    hierarchy = data.draw(hierarchies())
    plan = _plan.Plan(hierarchy)
    logits = data.draw(scores(hierarchy, rows=3, ties=ties)).logit().to(dtype)
    y = data.draw(labels(hierarchy, rows=3)) if labelled else None
    bits = _plan._ordered_bits(logits)
    index, clean = _kernel.decide(bits, y, plan.base, plan.by_rank, plan.edge_parents, plan.edge_children)
    assert clean
    assert torch.equal(index, _plan.decide_by_level(bits, y, plan))
    with mock.patch("chmcnn.constraint._plan._comparable", lambda keys: keys):  # as on an accelerator
        assert torch.equal(index, _plan.decide_by_level(bits, y, plan))


def test_keys_are_ordered_as_integers_and_as_float64() -> None:
    infinity = float("inf")
    values = [-infinity, -3e38, -1.0, -1e-45, 0.0, 1e-45, 1.0, 3e38, infinity]
    hierarchy = random_hierarchy(len(values), depth=len(values) - 1)  # a chain
    for first, second in ((a, b) for a in range(9) for b in range(9) if a != b):
        row = torch.full((1, 9), -infinity)
        row[0, 0], row[0, 1] = values[first], values[second]
        index = _plan.decide_by_level(_plan._ordered_bits(row), None, _plan.Plan(hierarchy))
        assert index[0, 0].item() == (0 if first > second else 1)


def test_flushing_small_numbers_to_zero_changes_nothing() -> None:
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush")
    try:
        hierarchy = random_hierarchy(50, edges=80, depth=5)
        plan, zeros = _plan.Plan(hierarchy), torch.zeros(3, 50)
        assert torch.equal(_plan.decide_by_level(zeros.view(torch.int32), None, plan), torch.arange(50).expand(3, -1))
    finally:
        torch.set_flush_denormal(False)


def test_plans_are_made_once_and_go_with_their_hierarchy() -> None:
    hierarchy = random_hierarchy(20, depth=3)
    device = torch.device("cpu")
    plan = weakref.ref(_plan.plan_of(hierarchy, device))
    assert _plan.plan_of(hierarchy, device) is plan()
    del hierarchy
    gc.collect()
    assert plan() is None


def test_the_operator_keeps_the_rules_of_torch() -> None:
    plan = _plan.Plan(random_hierarchy(20, edges=30, depth=3))
    tensors = (plan.base, plan.by_rank, plan.edge_parents, plan.edge_children)
    for bits in (torch.randn(4, 20), torch.randn(20, 4).t()):
        for y in (None, torch.zeros(4, 20, dtype=torch.bool)):
            torch.library.opcheck(_kernel.decide, (bits.view(torch.int32), y, *tensors))


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_without_a_place_for_compiled_code_it_is_compiled_anew() -> None:
    code = """
import numba, torch
njit = numba.njit
def without_cache(*functions, **options):
    if options.get("cache"):
        raise RuntimeError("cannot cache function: no locator available")
    return njit(*functions, **options)
numba.njit = without_cache
from chmcnn import Hierarchy
from chmcnn.constraint import _plan
from chmcnn.constraint import max_constraint
assert _plan._kernel is not None
print(max_constraint(torch.tensor([[0.25, 0.5]]), Hierarchy.from_edges([("a", "b")])).tolist())
"""
    assert run(code).strip() == "[[0.5, 0.5]]"


def test_without_numba_torch_alone_does_it() -> None:
    code = """
import sys
sys.modules["numba"] = None  # importing it fails
import torch
from chmcnn import Hierarchy
from chmcnn.constraint import _plan
from chmcnn.constraint import max_constraint
assert _plan._kernel is None
print(max_constraint(torch.tensor([[0.25, 0.5]]), Hierarchy.from_edges([("a", "b")])).tolist())
"""
    assert run(code).strip() == "[[0.5, 0.5]]"

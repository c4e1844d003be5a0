import subprocess
import sys
from unittest import mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import hierarchies, labels, scores

from chmcnn.constraint import _kernel
from chmcnn.constraint._delegates import find_delegates_by_level, ordered_bits
from chmcnn.constraint._indexed import IndexedHierarchy
from chmcnn.datasets.synthetic import random_hierarchy


@given(
    data=st.data(), ties=st.booleans(), labelled=st.booleans(), dtype=st.sampled_from([torch.float32, torch.float64])
)
def test_both_paths_agree(data: st.DataObject, ties: bool, labelled: bool, dtype: torch.dtype) -> None:
    hierarchy = data.draw(hierarchies())
    indexed = IndexedHierarchy(hierarchy)
    logits = data.draw(scores(hierarchy, rows=3, ties=ties)).logit().to(dtype)
    y = data.draw(labels(hierarchy, rows=3)) if labelled else None
    bits = ordered_bits(logits)
    index, is_valid = _kernel.find_delegates(bits, y, *indexed.tensors)
    assert is_valid
    assert torch.equal(index, find_delegates_by_level(bits, y, indexed))
    with mock.patch("chmcnn.constraint._delegates._as_comparable", lambda keys: keys):  # as on an accelerator
        assert torch.equal(index, find_delegates_by_level(bits, y, indexed))


def test_keys_are_ordered_as_integers_and_as_float64() -> None:
    infinity = float("inf")
    values = [-infinity, -3e38, -1.0, -1e-45, 0.0, 1e-45, 1.0, 3e38, infinity]
    hierarchy = random_hierarchy(len(values), depth=len(values) - 1)  # a chain
    for first, second in ((a, b) for a in range(9) for b in range(9) if a != b):
        row = torch.full((1, 9), -infinity)
        row[0, 0], row[0, 1] = values[first], values[second]
        index = find_delegates_by_level(ordered_bits(row), None, IndexedHierarchy(hierarchy))
        assert index[0, 0].item() == (0 if first > second else 1)


def test_flushing_small_numbers_to_zero_changes_nothing() -> None:
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush")
    try:
        hierarchy = random_hierarchy(50, edges=80, depth=5)
        bits = torch.zeros(3, 50).view(torch.int32)
        index = find_delegates_by_level(bits, None, IndexedHierarchy(hierarchy))
        assert torch.equal(index, torch.arange(50).expand(3, -1))
    finally:
        torch.set_flush_denormal(False)


def test_the_operator_passes_the_checks_of_torch() -> None:
    indexed = IndexedHierarchy(random_hierarchy(20, edges=30, depth=3))
    for bits in (torch.randn(4, 20), torch.randn(20, 4).t()):
        for y in (None, torch.zeros(4, 20, dtype=torch.bool)):
            torch.library.opcheck(_kernel.find_delegates, (bits.view(torch.int32), y, *indexed.tensors))


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_without_a_cache_folder_the_loop_is_compiled_in_every_process() -> None:
    code = """
import numba, torch
njit = numba.njit
def without_cache(*functions, **options):
    if options.get("cache"):
        raise RuntimeError("cannot cache function: no locator available")
    return njit(*functions, **options)
numba.njit = without_cache
from chmcnn import Hierarchy
from chmcnn.constraint import is_compiled, max_constraint
assert is_compiled()
print(max_constraint(torch.tensor([[0.25, 0.5]]), Hierarchy.from_edges([("a", "b")])).tolist())
"""
    assert run(code).strip() == "[[0.5, 0.5]]"


def test_without_numba_torch_finds_the_delegates() -> None:
    code = """
import sys
sys.modules["numba"] = None  # importing it fails
import torch
from chmcnn import Hierarchy
from chmcnn.constraint import is_compiled, max_constraint
assert not is_compiled()
print(max_constraint(torch.tensor([[0.25, 0.5]]), Hierarchy.from_edges([("a", "b")])).tolist())
"""
    assert run(code).strip() == "[[0.5, 0.5]]"

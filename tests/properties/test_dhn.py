"""A mixture of yes and no is coherent by itself."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import hierarchies

from chmcnn import Hierarchy
from chmcnn.baselines.dhn import mix_outputs


@settings(max_examples=100)
@given(hierarchies(), st.integers(0, 2**32 - 1), st.floats(0, 1), st.sampled_from([0.0, 0.1, 3.0, 50.0]), st.booleans())
def test_mixtures_are_free_of_violations(
    hierarchy: Hierarchy, seed: int, mix: float, scale: float, double: bool
) -> None:
    outputs = scale * torch.randn(3, 2 * len(hierarchy), generator=torch.Generator().manual_seed(seed))
    scores = mix_outputs(outputs.double() if double else outputs, hierarchy, mix)
    assert len(hierarchy.violations(scores)) == 0
    assert scores.min() >= 0
    assert scores.max() <= 1

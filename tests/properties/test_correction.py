"""The correction is coherent, and no class that does not count has a say in it, whatever the hierarchy."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import hierarchies, scores
from torch import Tensor

from chmcnn import Hierarchy
from chmcnn.estimator._correction import Correction, Direction, correct, find_delegates


def literally(raw: Tensor, hierarchy: Hierarchy, direction: Direction, counted: np.ndarray) -> np.ndarray:
    """The rule word by word: classes that count first, each for itself, then those that do not."""
    values = raw.numpy()
    found = np.zeros_like(values)
    positions = {name: at for at, name in enumerate(hierarchy)}
    for name in (name for name in hierarchy if counted[positions[name]]):
        related = hierarchy.descendants(name) if direction == "max" else hierarchy.ancestors(name)
        columns = [positions[other] for other in (name, *related) if counted[positions[other]]]
        found[:, positions[name]] = getattr(values[:, columns], direction)(axis=1)
    for name in (name for name in hierarchy if not counted[positions[name]]):
        columns = [positions[other] for other in hierarchy.descendants(name) if counted[positions[other]]]
        found[:, positions[name]] = found[:, columns].max(axis=1) if columns else 0
    return found


@given(data=st.data(), direction=st.sampled_from(["max", "min"]), ties=st.booleans())
def test_the_correction_is_coherent_and_leaves_out_what_does_not_count(
    data: st.DataObject, direction: Direction, ties: bool
) -> None:
    hierarchy = data.draw(hierarchies())
    counted = np.array(data.draw(st.lists(st.booleans(), min_size=len(hierarchy), max_size=len(hierarchy))))
    raw = data.draw(scores(hierarchy, 3, ties=ties))
    above, mask = hierarchy.reversed if direction == "min" else None, torch.tensor(counted)
    found = correct(raw, hierarchy, above=above, counted=mask)
    assert np.array_equal(found.numpy(), literally(raw, hierarchy, direction, counted))
    assert len(hierarchy.violations(found)) == 0
    assert torch.equal(Correction(hierarchy, direction, counted)(raw), found)
    sources = find_delegates(raw, hierarchy, above=above, counted=mask)
    own = sources == torch.arange(len(hierarchy))
    assert torch.equal(raw.gather(1, sources)[~own], found[~own])
    assert torch.equal(raw[own & mask], found[own & mask])
    assert counted[sources[~own].numpy()].all()

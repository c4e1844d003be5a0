"""The weighted mean of coherent scores is coherent, whatever the hierarchy, the scores and the weights."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import hierarchies, scores

from chmcnn.constraint import max_constraint
from chmcnn.ensemble._scores import average


@given(data=st.data(), members=st.integers(1, 5), ties=st.booleans())
def test_the_mean_of_coherent_members_is_coherent(data: st.DataObject, members: int, ties: bool) -> None:
    hierarchy = data.draw(hierarchies())
    coherent = [
        max_constraint(data.draw(scores(hierarchy, rows=3, ties=ties)).to(torch.float32), hierarchy).numpy()
        for _ in range(members)
    ]
    shares = data.draw(st.lists(st.floats(0, 1), min_size=members, max_size=members).filter(lambda each: sum(each) > 0))
    weights = np.array(shares) / sum(shares)
    mean = average(coherent, weights)
    assert len(hierarchy.violations(mean)) == 0
    assert mean.max() <= 1
    assert (mean >= np.min(coherent, axis=0) - 1e-6).all()
    assert (mean <= np.max(coherent, axis=0) + 1e-6).all()

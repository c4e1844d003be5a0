"""The weighted mean of coherent scores is coherent, whatever the hierarchy, the scores and the weights."""

import numpy as np
import torch
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.strategies import hierarchies, labels, scores

from chmcnn import CHMCNNClassifier, ChmcnnError, CoherentEnsemble
from chmcnn.baselines import ExtraTrees, KernelRidge, Neighbours
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


@settings(max_examples=10)
@given(data=st.data(), seed=st.integers(0, 1000))
def test_no_ensemble_contradicts_the_hierarchy(data: st.DataObject, seed: int) -> None:
    hierarchy = data.draw(hierarchies())
    y = data.draw(labels(hierarchy, rows=40)).numpy()
    x = np.random.default_rng(seed).normal(size=(40, 3))
    evaluated = np.array(data.draw(st.lists(st.booleans(), min_size=len(hierarchy), max_size=len(hierarchy))))
    members = [CHMCNNClassifier(epochs=1, widths=(4,)), KernelRidge(), ExtraTrees(n_estimators=2), Neighbours()]
    model = CoherentEnsemble(hierarchy, members=members, evaluated=evaluated, validation=0.5, random_state=seed)
    try:
        model.fit(x, y)
    except ChmcnnError:
        reject()  # nothing to learn
    assert len(hierarchy.violations(model.predict_proba(x))) == 0
    for member in model.member_scores(x).values():
        assert len(hierarchy.violations(member)) == 0
    for threshold in ("tune", "fmax"):
        if threshold in model.tuned_thresholds_:
            assert len(hierarchy.violations(model.predict(x, threshold=threshold))) == 0

"""Every system gives coherent predictions, whatever the hierarchy and the labels."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.strategies import hierarchies, labels

from chmcnn import ChmcnnError
from chmcnn.baselines import SYSTEMS

QUICK = {"epochs": 1, "n_estimators": 2, "widths": (8, 8)}


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "hiclass"])  # which takes a single path a row
@settings(max_examples=6)
@given(data=st.data(), seed=st.integers(0, 1000))
def test_no_system_contradicts_the_hierarchy(name: str, data: st.DataObject, seed: int) -> None:
    hierarchy = data.draw(hierarchies())
    y = data.draw(labels(hierarchy, rows=12)).numpy()
    x = np.random.default_rng(seed).normal(size=(12, 3))
    kind: Any = SYSTEMS[name]
    quick = {option: value for option, value in QUICK.items() if option in kind().get_params()}
    threshold = data.draw(st.sampled_from([0.5, 0.1, "tune", "hierarchical_f", "fmax"]))
    evaluated = np.array(data.draw(st.lists(st.booleans(), min_size=len(hierarchy), max_size=len(hierarchy))))
    evaluated = data.draw(st.sampled_from([None, evaluated]))
    model = kind(hierarchy=hierarchy, random_state=seed, threshold=threshold, evaluated=evaluated, **quick)
    try:
        model.fit(x, y)
    except ChmcnnError:
        reject()  # nothing to learn, or no levels: each has its own test
    scores = model.predict_proba(x)
    assert len(hierarchy.violations(scores)) == 0
    for column in np.flatnonzero(~model.evaluated_):
        descendants = hierarchy.descendants(hierarchy.classes[column])
        below = [at for at in map(hierarchy.index, descendants) if model.evaluated_[at]]
        best = scores[:, below].max(axis=1) if below else np.zeros(len(x))
        assert np.array_equal(scores[:, column], best)
    assert len(hierarchy.violations(model.predict(x))) == 0

"""Every system gives coherent predictions, whatever the hierarchy and the labels."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.strategies import hierarchies, labels

from chmcnn import ChmcnnError
from chmcnn.baselines import SYSTEMS

QUICK = {"epochs": 1, "n_estimators": 2}


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "hiclass"])  # which takes a single path a row
@settings(deadline=None, max_examples=10)
@given(data=st.data(), seed=st.integers(0, 1000))
def test_no_system_contradicts_the_hierarchy(name: str, data: st.DataObject, seed: int) -> None:
    hierarchy = data.draw(hierarchies())
    y = data.draw(labels(hierarchy, rows=12)).numpy()
    x = np.random.default_rng(seed).normal(size=(12, 3))
    kind: Any = SYSTEMS[name]
    quick = {option: value for option, value in QUICK.items() if option in kind().get_params()}
    threshold = data.draw(st.sampled_from([0.5, 0.1, "tune"]))
    model = kind(hierarchy=hierarchy, random_state=seed, threshold=threshold, **quick)
    try:
        model.fit(x, y)
    except ChmcnnError:
        reject()  # nothing to learn, or no levels: each has its own test
    assert len(hierarchy.violations(model.predict_proba(x))) == 0
    assert len(hierarchy.violations(model.predict(x))) == 0

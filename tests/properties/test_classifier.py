"""No way to a prediction contradicts the hierarchy, whatever the network, the hierarchy and the thresholds."""

from pathlib import Path

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from chmcnn import CHMCNNClassifier
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.estimator._thresholds import tune


def random_model(seed: int, classes: int, extra: int, scale: float) -> tuple[CHMCNNClassifier, np.ndarray]:
    """A model whose network is random and was hardly trained."""
    depth = min(3, classes - 1)
    capacity = random_hierarchy(classes, depth=depth, seed=seed)
    edges = len(capacity.edges) + (extra if depth > 1 and classes > 6 else 0)
    hierarchy = random_hierarchy(classes, edges=edges, depth=depth, seed=seed)
    random = np.random.default_rng(seed)
    x = random.normal(size=(20, 4))
    model = CHMCNNClassifier(hierarchy, network=nn.Linear(4, classes), epochs=1, random_state=seed)
    model.fit(x, hierarchy.close(random.random((20, classes)) < 0.3 + 0.7 * (np.arange(classes) == 0)))
    with torch.no_grad():
        for parameter in model.network_.parameters():
            parameter.copy_(torch.tensor(random.normal(0, scale, parameter.shape)))
    return model, x * 10


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 25), st.integers(0, 3), st.sampled_from([0.1, 3.0, 50.0]))
def test_every_path_is_free_of_violations(tmp_path: Path, seed: int, classes: int, extra: int, scale: float) -> None:
    model, x = random_model(seed, classes, extra, scale)
    hierarchy = model.hierarchy_
    random = np.random.default_rng(seed)
    truth = hierarchy.close(random.random((20, classes)) < 0.2)
    model.tuned_thresholds_ = tune(truth, model.predict_proba(x), hierarchy)
    for threshold in (0.5, random.random(), *model.tuned_thresholds_):
        model.set_params(threshold=threshold)
        assert len(hierarchy.violations(model.predict_proba(x))) == 0
        assert len(hierarchy.violations(model.predict(x))) == 0
        for labels in model.predict_labels(x):
            assert all(set(hierarchy.ancestors(name)) <= labels for name in labels)
    model.network = nn.Linear(4, classes)
    model.save(tmp_path / "model", force=(tmp_path / "model").exists())
    loaded = CHMCNNClassifier.load(tmp_path / "model", network=nn.Linear(4, classes))
    assert np.array_equal(loaded.predict(x), model.predict(x))
    assert len(hierarchy.violations(loaded.predict_proba(x))) == 0

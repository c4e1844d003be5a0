"""What holds for all systems."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from chmcnn import ChmcnnError, FeatureError, LabelError
from chmcnn.baselines import SYSTEMS, system
from chmcnn.datasets.synthetic import learnable
from chmcnn.estimator import HierarchicalClassifier

DATA = learnable(rows=300, features=8, classes=15, depth=3, noise=0.3)
QUICK: dict[str, Any] = {"epochs": 2, "n_estimators": 5}
SINGLE_PATH = {"hiclass"}  # takes rows with one most specific class only: see test_flat.py
every_system = pytest.mark.parametrize("name", [name for name in SYSTEMS if name not in SINGLE_PATH])


def made(name: str, **options: Any) -> HierarchicalClassifier:
    kind = system(name)
    quick = {key: value for key, value in QUICK.items() if key in kind().get_params()}
    return kind(hierarchy=DATA.hierarchy, random_state=0, **quick, **options)


@every_system
def test_a_system_has_the_interface_of_the_classifier(name: str) -> None:
    model = made(name, evaluated=DATA.evaluated)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))
    scores = model.predict_proba(DATA.test.X)
    assert scores.shape == DATA.test.Y.shape
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert len(DATA.hierarchy.violations(scores)) == 0
    assert len(DATA.hierarchy.violations(model.predict(DATA.test.X))) == 0
    assert model.uncorrected_proba(DATA.test.X).shape == scores.shape
    assert 0 < model.score(DATA.test.X, DATA.test.Y) <= 1
    labels = model.predict_labels(DATA.test.X)
    reasons = model.explain(DATA.test.X[:3])
    assert [{reason.name for reason in each.reasons} for each in reasons] == labels[:3]
    with pytest.raises(FeatureError, match="X has a value in 'x1' beyond the range of single precision"):
        model.predict_proba(np.full((1, 8), [0.0, 1e300, *[0.0] * 6]))


@every_system
def test_the_seed_decides_and_tuned_thresholds_are_coherent(name: str) -> None:
    first, again = (clone(made(name, threshold="tune")).fit(DATA.train.X, DATA.train.Y) for _ in range(2))
    assert np.array_equal(first.predict_proba(DATA.test.X), again.predict_proba(DATA.test.X))
    predicted = first.predict(DATA.test.X)
    assert len(DATA.hierarchy.violations(predicted)) == 0
    assert predicted.any()


@every_system
def test_labels_that_are_no_classes_are_refused(name: str) -> None:
    with pytest.raises(LabelError, match="nothing to learn"):
        made(name).fit(DATA.train.X, 0 * DATA.train.Y)
    with pytest.raises(LabelError, match="X has 2 rows"):
        made(name).fit(DATA.train.X[:2], DATA.train.Y)


def test_an_unknown_system_is_told_with_those_that_there_are() -> None:
    with pytest.raises(ChmcnnError, match=r"'c-hmcnn'.*Systems: C-HMCNN, HMCN-F"):
        system("c-hmcnn")

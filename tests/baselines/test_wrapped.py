"""Any scikit-learn classifier as a system."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from chmcnn import ChmcnnError, Hierarchy, metrics
from chmcnn.baselines import Coherent
from chmcnn.datasets.synthetic import learnable

DATA = learnable(rows=150, features=6, classes=10, edges=12, depth=3)


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(3),
        RandomForestClassifier(10),
        OneVsRestClassifier(LinearSVC()),
        OneVsRestClassifier(LogisticRegression()),
        MultiOutputClassifier(LogisticRegression()),
        RidgeClassifier(),
        pytest.param(MLPClassifier((20,), max_iter=400), marks=pytest.mark.filterwarnings("ignore")),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_scores_are_coherent_and_better_than_none(estimator: Any) -> None:
    model = Coherent(estimator, DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    scores = model.predict_proba(DATA.test.X)
    assert metrics.violations(scores, DATA.hierarchy).number == 0
    assert scores.min() >= 0
    assert scores.max() <= 1
    frequency = np.tile(DATA.train.Y.mean(axis=0), (len(DATA.test), 1))
    assert metrics.auprc(DATA.test.Y, scores) > metrics.auprc(DATA.test.Y, frequency)


def test_classes_without_rows_or_with_all_are_not_learned() -> None:
    tree = Hierarchy.from_edges([("all", "some"), ("all", "none")])
    X, y = [[0.0], [1.0]] * 5, [{"all"}, {"some"}] * 5
    model = Coherent(MultiOutputClassifier(LogisticRegression()), tree, random_state=0).fit(X, y)
    scores = model.uncorrected_proba([[1.0]])
    assert scores[0, [tree.index("all"), tree.index("none")]].tolist() == [1, 0]
    assert 0.5 < scores[0, tree.index("some")] < 1


def test_the_seed_reaches_the_classifier_and_thresholds_are_tuned() -> None:
    def scores(seed: int) -> Any:
        model = Coherent(RandomForestClassifier(5), DATA.hierarchy, threshold="tune", random_state=seed)
        return model.fit(DATA.train.X, DATA.train.Y).predict_proba(DATA.test.X)

    assert np.array_equal(scores(0), scores(0))
    assert not np.array_equal(scores(0), scores(1))
    model = Coherent(KNeighborsClassifier(3), DATA.hierarchy, threshold="tune", random_state=0)
    assert len(set(model.fit(DATA.train.X, DATA.train.Y).thresholds_)) > 1


def test_it_is_a_scikit_learn_estimator() -> None:
    model = Coherent(KNeighborsClassifier(3), DATA.hierarchy, validation=0.1)
    copy = clone(model)
    assert copy.get_params()["estimator__n_neighbors"] == 3
    assert copy.set_params(estimator__n_neighbors=5).estimator.n_neighbors == 5
    assert model.estimator.n_neighbors == 3
    assert copy.validation == 0.1


class Wrong(KNeighborsClassifier):  # type: ignore[misc]  # scikit-learn has no types
    """Returns scores of the wrong shape."""

    def predict_proba(self, X: Any) -> Any:
        return np.zeros((len(X), 3))


@pytest.mark.parametrize("estimator", [LogisticRegression(), make_pipeline(StandardScaler(), LinearSVC())])
def test_a_classifier_of_single_labels_is_told_how_to_be_wrapped(estimator: Any) -> None:
    with pytest.raises(ChmcnnError, match=r"takes a single label for each row: wrap it in .*OneVsRestClassifier"):
        Coherent(estimator, DATA.hierarchy).fit(DATA.train.X, DATA.train.Y)


class Refusing:
    def fit(self, X: Any, Y: Any) -> None:  # noqa: ARG002 -- as classifiers have it
        raise ValueError("my own reason")


@pytest.mark.parametrize(
    ("estimator", "told"),
    [(Refusing(), "^my own reason"), (MultiOutputClassifier(LogisticRegression(C=-1)), "^The 'C' parameter")],
)
def test_other_errors_of_a_classifier_stay_what_they_are(estimator: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Coherent(estimator, DATA.hierarchy).fit(DATA.train.X, DATA.train.Y)


class Silent:
    def fit(self, X: Any, Y: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("estimator", "told"),
    [
        (Wrong(3), r"Wrong returns scores of shape \(30, 3\); expected \(30, 9\), \(rows, classes\)"),
        (Silent(), "Silent has no scores: it needs predict_proba or decision_function"),
    ],
)
def test_a_classifier_without_usable_scores_is_told(estimator: Any, told: str) -> None:
    model = Coherent(estimator, DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    with pytest.raises(ChmcnnError, match=told):
        model.predict_proba(DATA.test.X)

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from chmcnn import CHMCNNClassifier
from tests.estimator.models import DATA, QUICK, fitted

NOT_FOR_A_HIERARCHY = {
    "check_classifiers_train": "predicts a matrix of 0 and 1 for all classes, not one class a row",
    "check_classifiers_classes": "classes_ are the names in the hierarchy, which are strings, not the numbers given",
    "check_classifiers_one_label": "predicts a matrix, not one class a row",
    "check_estimator_sparse_array": "predicts a matrix, not one class a row",
    "check_estimator_sparse_matrix": "predicts a matrix, not one class a row",
    "check_classifiers_regression_target": "whole numbers in a regression target are names of classes",
    "check_supervised_y_2d": "a column of numbers is a 0/1 matrix of one class, and 2 is no label",
    "check_classifier_not_supporting_multiclass": "any number of classes is supported",
    "check_classifiers_multilabel_representation_invariance": "a 0/1 matrix has no names; it needs a hierarchy",
    "check_classifiers_multilabel_output_format_predict": "a 0/1 matrix has no names; it needs a hierarchy",
    "check_classifiers_multilabel_output_format_predict_proba": "a 0/1 matrix has no names; it needs a hierarchy",
    "check_classifier_multioutput": "a 0/1 matrix has no names; it needs a hierarchy",
    "check_class_weight_classifiers": "weights are given by name of the class",
    "check_classifiers_multilabel_output_format_decision_function": "there is none",
}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [CHMCNNClassifier(epochs=2, widths=(8,), random_state=0)], expected_failed_checks=lambda _: NOT_FOR_A_HIERARCHY
)
def test_it_is_a_scikit_learn_estimator(estimator: CHMCNNClassifier, check: Any) -> None:
    if "sample_order" in str(check):
        pytest.skip("sums of single precision may differ in their last bit by the order of the rows")
    check(estimator)


def test_the_seed_decides() -> None:
    first, again, other = fitted(), fitted(), fitted(random_state=1)
    assert np.array_equal(first.predict_proba(DATA.test.X), again.predict_proba(DATA.test.X))
    assert not np.array_equal(first.predict_proba(DATA.test.X), other.predict_proba(DATA.test.X))


def test_it_learns_and_scores() -> None:
    model = fitted(epochs=60, widths=(64,))
    assert model.score(DATA.test.X, DATA.test.Y) > 0.75
    assert model.score(DATA.test.X, DATA.hierarchy.decode(DATA.test.Y)) == model.score(DATA.test.X, DATA.test.Y)
    assert model.best_score_ > 0.7
    assert model.history_[-1].phase == "refit"


def test_it_works_with_scikit_learns_tools(tmp_path: Path) -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    assert clone(model).get_params()["hierarchy"] is DATA.hierarchy
    piped, Y = make_pipeline(StandardScaler(), model), DATA.train.Y.toarray()  # scikit-learn takes no sparse labels
    assert len(cross_val_score(piped, DATA.train.X, Y, cv=3)) == 3
    search = GridSearchCV(model, {"dropout": [0.1, 0.5]}, cv=2).fit(DATA.train.X, Y)
    assert search.best_params_["dropout"] in (0.1, 0.5)
    joblib.dump(fitted(), tmp_path / "model.joblib")
    assert joblib.load(tmp_path / "model.joblib").predict(DATA.test.X).shape == (60, 15)

from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from tests.baselines.members import DATA, SPARSE_X, refused, saved

from chmcnn import ChmcnnError, Hierarchy
from chmcnn.baselines import Linear


def test_scores_have_the_order_of_the_margins_of_scikit_learn() -> None:
    model = Linear(DATA.hierarchy, C=0.3, validation=0, preprocess=False, random_state=0)
    scores = model.fit(SPARSE_X, DATA.train.Y).uncorrected_proba(SPARSE_X)
    labels = DATA.train.Y.toarray()
    column = int(np.argmin(np.abs(labels.mean(axis=0) - 0.5)))
    with pytest.warns(ConvergenceWarning):  # which ours does not pass on
        theirs = LinearSVC(C=0.3, dual=True, max_iter=50, tol=1e-2, random_state=0).fit(SPARSE_X, labels[:, column])
    margins = theirs.decision_function(SPARSE_X)
    np.testing.assert_allclose(np.log(scores[:, column] / (1 - scores[:, column])), 5 * margins + 0.5, atol=1e-3)


def test_classes_that_all_rows_have_or_none_are_not_learned() -> None:
    tree = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("a", "d")])
    model = Linear(tree, random_state=0).fit([[0.0], [1.0]] * 10, [{"b"}, {"c"}] * 10)
    scores = model.predict_proba([[0.0], [1.0]])
    assert (scores[:, tree.index("a")] == 1).all()
    assert (scores[:, tree.index("d")] == 0).all()
    assert model.predict_labels([[0.0], [1.0]]) == [{"a", "b"}, {"a", "c"}]
    assert len(model.model_.weights) == 2


def test_cost_and_logistic_function_are_chosen_on_validation_rows(tmp_path: Path) -> None:
    model = Linear(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    assert model.C_ in {0.01, 0.1, 0.3, 1.0, 3.0}
    assert (model.model_.slope, model.model_.intercept) != (5.0, 0.5)
    assert model.model_.weights.dtype == np.float32
    assert Linear(DATA.hierarchy, C=2, random_state=0).fit(DATA.train.X, DATA.train.Y).C_ == 2
    loaded = saved(model, tmp_path / "model")
    assert isinstance(loaded, Linear)
    assert loaded.C_ == model.C_


def test_it_steps_aside_where_it_would_take_too_long() -> None:
    rows = len(DATA.train.X)  # with the validation rows, which it learns from in the end
    message = rf"Linear steps aside: {rows} rows and 6 columns with \d+ classes take too long .* Use Neighbours, or"
    with pytest.raises(ChmcnnError, match=message):
        Linear(DATA.hierarchy, most_products=10).fit(DATA.train.X, DATA.train.Y)


def test_changed_files_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    Linear(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y).save(folder)
    assert "the slope of the logistic function is -1.0" in refused(folder, lambda arrays: arrays["logistic"].fill(-1))
    assert "learned has positions" in refused(folder, lambda arrays: arrays["learned"].fill(12))
    assert "weights has type" in refused(folder, lambda arrays: arrays.update(weights=arrays["weights"][:, :2].copy()))

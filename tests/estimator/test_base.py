import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.estimator.models import DATA, QUICK, fitted

from chmcnn import CHMCNNClassifier, ChmcnnError, Hierarchy, LabelError, ScoreError
from chmcnn.datasets import Preprocessor, stratify
from chmcnn.estimator import HierarchicalClassifier
from chmcnn.hierarchy import _matrices
from chmcnn.training import Rows

DENSE = DATA.train.Y.toarray()


def test_labels_of_any_form_give_the_same_model() -> None:
    sets = DATA.hierarchy.decode(DATA.train.Y, most_specific=True)
    expected = fitted().predict_proba(DATA.test.X)
    for labels in (sets, DENSE.astype(float), DENSE.tolist(), DATA.train.Y):
        found = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(DATA.train.X, labels).predict_proba(DATA.test.X)
        assert np.array_equal(found, expected)


def test_features_of_any_form_are_taken() -> None:
    frame = pd.DataFrame(DATA.train.X).rename(columns=str).assign(kind=pd.Categorical(["a", "b", None] * 60))
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(frame, DATA.train.Y)
    assert model.predict(frame).shape == (180, 15)
    assert model.feature_names_in_[-1] == "kind"
    thin = sparse.csr_array(np.where(DATA.train.X > 1, DATA.train.X, 0))
    assert CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(thin, DATA.train.Y).predict_proba(thin).shape == (180, 15)


def test_label_paths_make_the_hierarchy() -> None:
    model = CHMCNNClassifier(**QUICK).fit(np.eye(6), [{"a/b"}, {"a/c"}, {"d"}] * 2)
    assert model.hierarchy_.classes == ("a", "a/b", "a/c", "d")
    assert all(isinstance(labels, set) for labels in model.predict_labels(np.eye(6)))


def test_a_class_that_training_labels_do_not_have_is_told_with_a_way_out() -> None:
    model = CHMCNNClassifier(**QUICK).fit(np.eye(6), [{"a/b"}, {"a/c"}, {"d"}] * 2)
    with pytest.raises(LabelError, match=r"'a/x'.* pass hierarchy= with all classes"):
        model.score(np.eye(6), [{"a/x"}, {"a/c"}, {"d"}] * 2)


def test_a_frame_of_labels_is_taken_by_name() -> None:
    frame = pd.DataFrame(DENSE, columns=DATA.hierarchy.classes)
    first = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(DATA.train.X, frame)
    turned = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(DATA.train.X, frame[frame.columns[::-1]])
    assert np.array_equal(first.predict_proba(DATA.test.X), turned.predict_proba(DATA.test.X))
    assert first.score(DATA.train.X, frame[frame.columns[::-1]]) == first.score(DATA.train.X, DATA.train.Y)
    leaves = frame[[*DATA.hierarchy.leaves]]
    sets = [{*row[row > 0].index} for _, row in leaves.iterrows()]
    assert first.score(DATA.train.X, leaves) == first.score(DATA.train.X, sets)
    with pytest.raises(ChmcnnError, match="The labels have no column"):
        first.fit(DATA.train.X, leaves.iloc[:, 1:])


def test_validation_data_of_the_users_own() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))
    assert 1 <= model.best_epoch_ <= 4
    with pytest.raises(ChmcnnError, match="No validation row has any of the classes that count"):
        model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, 0 * DATA.valid.Y))
    with pytest.raises(LabelError, match="X has 2 rows, but y has labels of 60"):
        model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X[:2], DATA.valid.Y))


def test_validation_rows_do_not_shape_the_features() -> None:
    x = DATA.train.X.copy()
    first = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(x, DATA.train.Y)
    size = round(0.2 * len(x))
    held = stratify(DATA.train.Y, (len(x) - size, size), 0)[1]
    x[held] += 100
    again = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(x, DATA.train.Y)
    assert np.array_equal(first.preprocessor_.means_, again.preprocessor_.means_)


def test_bad_data_are_told() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    with pytest.raises(LabelError, match="X has 180 rows, but y has labels of 3"):
        model.fit(DATA.train.X, DATA.train.Y[:3])
    with pytest.raises(LabelError, match="Row 0: Unknown class 'x'"):
        model.fit(np.eye(2), [{"x"}, {"c01"}])
    with pytest.raises(LabelError, match="No row has any of the classes that count"):
        model.fit(np.eye(2), [set(), set()])
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.array([[np.inf], [1.0]]), [{"c01"}, {"c01"}])
    with pytest.raises(LabelError, match="The labels are a 0/1 matrix without class names: pass hierarchy="):
        CHMCNNClassifier().fit(np.eye(2), np.eye(2))
    with pytest.raises(LabelError, match=r"Row 0 has the label 1\.5"):
        CHMCNNClassifier().fit(np.eye(2), [1.5, 2.5])
    fit = fitted()
    with pytest.raises(ValueError, match="X has 3 features, but Preprocessor is expecting 8"):
        fit.predict(np.zeros((1, 3)))


def test_labels_in_another_order_than_the_rows_are_refused() -> None:
    names = [f"gene{row}" for row in range(len(DATA.train.X))]
    X = pd.DataFrame(DATA.train.X, index=names)
    labels = pd.Series(DATA.hierarchy.decode(DATA.train.Y), index=names)
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    with pytest.raises(LabelError, match=r"row 0 is 'gene0' in X, and 'gene179' in y\. Pass y\.loc\[X\.index\]"):
        model.fit(X, labels[::-1])
    expected = model.fit(X, labels).predict_proba(DATA.test.X)
    others = [labels.reset_index(drop=True), labels.set_axis([f"other{row}" for row in range(len(names))])]
    for other in others:  # nothing tells which is right
        assert np.array_equal(model.fit(X, other).predict_proba(DATA.test.X), expected)
    with pytest.raises(ScoreError, match="Y has shape"):
        model.score(X, labels[:10])


def test_tables_may_be_asked_for_as_the_output_of_transformers() -> None:
    expected = fitted().predict_proba(DATA.test.X)
    as_tables = Preprocessor().set_output(transform="pandas")
    assert np.array_equal(fitted(preprocess=as_tables).predict_proba(DATA.test.X), expected)
    with config_context(transform_output="pandas"):
        assert np.array_equal(fitted().predict_proba(DATA.test.X), expected)


def test_models_that_are_not_fitted_say_so() -> None:
    for ask in ("calibrate", "guarantee", "score"):
        with pytest.raises(NotFittedError):
            getattr(CHMCNNClassifier(DATA.hierarchy), ask)(DATA.test.X, DATA.test.Y)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda scores: scores[1:], r"Own returns scores of shape \(59, 15\); expected \(60, 15\)"),
        (lambda scores: scores * 3, r"Own returns scores from 0\.0 to 3\.0; expected probabilities from 0 to 1"),
        (lambda scores: scores * np.nan, "Own returns scores that are not finite numbers"),
        (lambda scores: scores.astype(str), "Own returns scores of type <U"),
    ],
)
def test_wrong_scores_of_a_system_of_the_user_are_told(wrong: Callable[[Any], Any], told: str) -> None:
    class Own(HierarchicalClassifier):
        def _learn(self, train: Rows, valid: Rows | None) -> None: ...

        def uncorrected_proba(self, X: Any) -> Any:
            return wrong(np.linspace(0, 1, len(X) * 15, dtype=np.float32).reshape(-1, 15))

    model = Own(DATA.hierarchy).fit(DATA.train.X, DATA.train.Y)
    for ask in (model.predict_proba, model.predict_labels, model.explain, lambda X: [*model.iterate_scores(X)]):
        with pytest.raises(ChmcnnError, match=told):
            ask(DATA.test.X)


def test_a_constructor_names_the_parameters_that_it_passes_on() -> None:
    class Own(CHMCNNClassifier):
        def __init__(self, hierarchy: Hierarchy | None = None, *, depth: int = 3, **options: Any) -> None:
            super().__init__(hierarchy, **options)
            self.depth = depth

    assert {"depth", *CHMCNNClassifier().get_params()} == {*Own().get_params()}
    assert [*inspect.signature(Own).parameters][:3] == ["hierarchy", "depth", "preset"]
    assert repr(Own(depth=2, threshold=0.3)) == "Own(depth=2, threshold=0.3)"


def test_parameters_of_a_mixin_are_added() -> None:
    class Tagged:
        def __init__(self, *, tag: str = "x", **options: Any) -> None:
            super().__init__(**options)
            self.tag = tag

    class Own(Tagged, CHMCNNClassifier):
        pass

    class Other(Tagged, CHMCNNClassifier):
        def __init__(self, *, depth: int = 3, **options: Any) -> None:
            super().__init__(**options)
            self.depth = depth

    assert {"tag", *CHMCNNClassifier().get_params()} == {*Own().get_params()}
    assert {"tag", "depth", *CHMCNNClassifier().get_params()} == {*Other().get_params()}
    assert clone(Other(epochs=3, tag="y")).get_params() == Other(epochs=3, tag="y").get_params()


def test_one_row_rows_alike_and_classes_without_rows_are_no_trouble() -> None:
    one = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(DATA.train.X[:1], DATA.train.Y[:1])
    assert one.predict(DATA.test.X).shape == (60, 15)
    alike = CHMCNNClassifier(DATA.hierarchy, **QUICK, threshold="tune").fit(np.ones((10, 3)), [{"c01"}] * 10)
    assert len(DATA.hierarchy.violations(alike.predict_proba(np.ones((2, 3))))) == 0
    tree = Hierarchy.from_paths(["a/b", "a/never"])
    assert CHMCNNClassifier(tree, **QUICK).fit(np.eye(4), [{"a/b"}] * 4).predict(np.eye(4)).shape == (4, 3)


def test_labels_are_closed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    close = _matrices.close_sparse

    def count(hierarchy: Any, labels: Any) -> Any:
        sizes.append(labels.shape[0])
        return close(hierarchy, labels)

    monkeypatch.setattr(_matrices, "close_sparse", count)
    model = CHMCNNClassifier(DATA.hierarchy, epochs=2, widths=(4,), random_state=0)
    model.fit(DATA.train.X, DATA.train.Y)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))
    assert sizes == [len(DATA.train), len(DATA.train), len(DATA.valid)]

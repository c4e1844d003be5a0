from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

from chmcnn import ChmcnnError, Hierarchy, metrics
from chmcnn.baselines import ClusEns, ClusHMC
from chmcnn.baselines._trees import grow, project_labels, weigh_classes_by_depth
from chmcnn.baselines.clus import DEFAULT_LEVEL, LEVELS
from chmcnn.datasets.synthetic import learnable
from chmcnn.report.tree import draw

DATA = learnable(rows=300, features=8, classes=15, depth=3, edges=20, noise=0.3)
DAG = Hierarchy.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("e", "d")])
SIZES = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0] * 10, "kind": pd.Categorical(["x", "y"] * 20)})
LABELS = [{"small"}, {"small", "tiny"}, {"large"}, {"large"}] * 10
FLAT = Hierarchy(["large", "small", "tiny"], [])


def fitted(kind: type[ClusHMC] = ClusHMC, **options: Any) -> ClusHMC:
    model = kind(DATA.hierarchy, random_state=0, evaluated=DATA.evaluated, **options)
    return model.fit(DATA.train.X, DATA.train.Y, (DATA.valid.X, DATA.valid.Y))


def partition(leaves: Any) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(leaves == leaf).tolist()) for leaf in np.unique(leaves)}


def test_weights_fall_with_depth_in_a_tree() -> None:
    hierarchy = Hierarchy.from_paths(["a/b/c", "a/d", "e"])
    weights = weigh_classes_by_depth(hierarchy, np.ones(5, dtype=bool), 0.75)
    assert dict(zip(hierarchy.classes, weights, strict=True)) == {
        "a": 1,
        "a/b": 0.75,
        "a/b/c": 0.75**2,
        "a/d": 0.75,
        "e": 1,
    }


def test_weights_are_of_the_mean_of_parents_in_a_dag() -> None:
    weights = weigh_classes_by_depth(DAG, np.ones(5, dtype=bool), 0.75)
    assert weights[DAG.index("d")] == pytest.approx(0.75 * (0.75**2 + 1 + 1) / 3)


def test_classes_that_do_not_count_weigh_nothing_and_are_still_parents() -> None:
    evaluated = np.array([name != "a" for name in DAG])
    weights = weigh_classes_by_depth(DAG, evaluated, 0.75)
    assert weights[DAG.index("a")] == 0
    assert weights[DAG.index("b")] == 0.75


@pytest.mark.parametrize("rows", [12, 180], ids=["fewer rows than classes", "more rows than classes"])
def test_all_components_keep_all_distances(rows: int) -> None:
    y = DATA.train.Y[:rows].toarray()
    weights = weigh_classes_by_depth(DATA.hierarchy, DATA.evaluated, 0.75)
    exact = y * np.sqrt(weights)
    projected = project_labels(y, weights, 1.0)

    def distances(points: Any) -> Any:
        return np.square(points[:, None] - points[None]).sum(axis=-1)

    assert np.allclose(distances(exact), distances(projected))
    kept = project_labels(y, weights, 0.8)
    assert kept.shape[1] < projected.shape[1]
    assert np.square(kept).sum() >= 0.8 * np.square(projected).sum()


def test_the_tree_is_a_regression_tree_on_weighted_labels() -> None:
    options: dict[str, Any] = {"min_samples_leaf": 12, "random_state": 0}  # of few rows, many splits are equally good
    model = ClusHMC(DATA.hierarchy, significance=1.0, preprocess=False, evaluated=DATA.evaluated, **options)
    model.fit(DATA.train.X, DATA.train.Y, (DATA.valid.X, DATA.valid.Y))
    x, y = (
        np.concatenate([DATA.train.X, DATA.valid.X]),
        sparse.vstack([DATA.train.Y, DATA.valid.Y]).toarray(),
    )
    plain = DecisionTreeRegressor(**options).fit(x, y * np.sqrt(model.class_weights_))
    leaves = model.trees_[0].apply(x)
    assert len(np.unique(leaves)) > 10
    assert partition(leaves) == partition(plain.apply(x))
    for leaf in np.unique(leaves):
        assert np.allclose(model.trees_[0].means[leaf], y[leaves == leaf].mean(axis=0))


def test_a_leaf_predicts_the_mean_of_its_rows() -> None:
    hierarchy = Hierarchy.from_edges([("small", "tiny")], classes=["small", "tiny", "large"])
    model = ClusHMC(hierarchy, validation=0).fit(SIZES[["size"]], LABELS)
    order = [hierarchy.index(name) for name in ("small", "tiny", "large")]
    predicted = model.predict_proba(pd.DataFrame({"size": [0.0, 2.1, 9.0]}))[:, order]
    assert predicted.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]


def test_a_split_is_undone_where_the_f_test_by_hand_does_not_reject() -> None:
    x, y = np.array([[0.0], [0], [0], [1], [1], [1]]), np.array([[1], [1], [0], [0], [0], [1]], dtype=bool)
    tree = grow(DecisionTreeRegressor(), x, y, y.astype(float), np.ones(1))
    # sum of squares 6/4 before, 2/3 + 2/3 after; F(1, 4) = 4 * (1/6) / (4/3) = 1/2, of which the p-value is 0.5185
    assert tree.p_values[0] == pytest.approx(0.5185, abs=1e-4)
    assert tree.prune(0.52).predict(x)[:, 0].tolist() == pytest.approx([2 / 3] * 3 + [1 / 3] * 3)
    assert tree.prune(0.51).predict(x)[:, 0].tolist() == [0.5] * 6


def test_what_is_below_an_insignificant_split_goes_with_it() -> None:
    x = np.arange(64)[:, None].astype(float)
    y = (x // 16 % 2 == 1) ^ (x >= 32)  # no first split says much, the second ones say all
    tree = grow(DecisionTreeRegressor(min_samples_leaf=16), x, y, y.astype(float), np.ones(1))
    assert tree.p_values.min() < 1e-7 < tree.p_values[0]
    assert len(tree.prune(1e-7).means) == 1


@pytest.mark.parametrize("kind", [ClusHMC, ClusEns])
def test_the_level_is_chosen_on_validation_rows_and_all_rows_are_learnt_from(kind: type[ClusHMC]) -> None:
    quick: dict[str, Any] = {} if kind is ClusHMC else {"n_estimators": 3}
    model = fitted(kind, **quick)
    assert tuple(model.validation_scores_) == LEVELS
    assert model.validation_scores_[model.significance_] == max(model.validation_scores_.values())
    apart = kind(DATA.hierarchy, significance=model.significance_, validation=0, random_state=0, **quick)
    apart.fit(DATA.train.X, DATA.train.Y)
    held = metrics.auprc(DATA.valid.Y, apart.predict_proba(DATA.valid.X), classes=DATA.evaluated)
    assert model.validation_scores_[model.significance_] == pytest.approx(held, abs=1e-6)
    everything = sparse.vstack([DATA.train.Y, DATA.valid.Y]).toarray()
    if kind is ClusHMC:
        assert model.trees_[0].regressor.tree_.n_node_samples[0] == len(everything)


def test_without_validation_rows_there_is_a_default_level() -> None:
    model = ClusHMC(DATA.hierarchy, validation=0).fit(DATA.train.X, DATA.train.Y)
    assert model.significance_ == DEFAULT_LEVEL
    assert not model.validation_scores_


def test_an_ensemble_is_the_mean_of_different_trees_and_the_same_on_any_number_of_cores() -> None:
    one, two = (fitted(ClusEns, n_estimators=6, n_jobs=jobs) for jobs in (1, 2))
    scores = one.predict_proba(DATA.test.X)
    assert np.array_equal(scores, two.predict_proba(DATA.test.X))
    x = one.preprocessor_.transform(DATA.test.X)
    each = [tree.predict(x) for tree in one.trees_]
    assert not np.array_equal(each[0], each[1])
    assert np.allclose(np.mean(each, axis=0), scores)


def test_an_ensemble_is_better_than_a_tree() -> None:
    assert max(fitted(ClusEns, n_estimators=20).validation_scores_.values()) > max(fitted().validation_scores_.values())


@pytest.mark.parametrize("model", [fitted(), fitted(ClusEns, n_estimators=4)], ids=["tree", "ensemble"])
def test_importances_are_shares_of_the_features(model: ClusHMC) -> None:
    assert model.feature_importances_.shape == (8,)
    assert model.feature_importances_.min() >= 0
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_a_feature_of_categories_has_one_importance() -> None:
    model = ClusHMC(FLAT, validation=0).fit(SIZES, LABELS)
    assert model.feature_names_in_.tolist() == ["size", "kind"]
    assert model.feature_importances_.shape == (2,)


@pytest.mark.parametrize("preprocess", [True, False])
def test_rules_are_in_units_of_the_features(preprocess: bool) -> None:
    model = ClusHMC(FLAT, validation=0, preprocess=preprocess).fit(SIZES[["size"]], LABELS)
    assert model.to_text() == (
        "size <= 2.5 (40 rows)\n"
        "  yes: size <= 1.5 (20 rows)\n"
        "    yes: 10 rows: small 1.00\n"
        "    no: 10 rows: small 1.00, tiny 1.00\n"
        "  no: 20 rows: large 1.00"
    )
    assert model.to_text(max_depth=1, classes=1).splitlines()[1] == "  yes: 20 rows in 2 leaves: small 1.00"
    assert model.to_text(max_depth=0, classes=2) == "40 rows in 3 leaves: large 0.50, small 0.50"


def test_a_drawn_tree_has_all_rules_and_leaves_apart() -> None:
    model = fitted()
    figure = draw(model.rules())
    texts = [text for text in figure.axes[0].texts if text.get_text() not in ("yes", "no")]
    assert len(texts) == 2 * len(model.trees_[0].means) - 1
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in texts]
    assert all(figure.bbox.contains(*corner) for box in boxes for corner in (box.min, box.max))
    assert not any(box.overlaps(other) for at, box in enumerate(boxes) for other in boxes[:at])


def test_sparse_features_are_taken() -> None:
    model = ClusEns(DATA.hierarchy, n_estimators=3, random_state=0)
    x = sparse.csr_array(np.asarray(DATA.train.X))
    assert model.fit(x, DATA.train.Y).predict(x).any()


def test_progress_is_shown_where_it_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    fitted(ClusEns, n_estimators=2, verbose=True)
    shown = capsys.readouterr()
    assert "Trees" in shown.err
    assert not shown.out


@pytest.mark.parametrize(
    "wrong", [{"significance": 0}, {"variance": 1.5}, {"depth_weight": "x"}, {"min_samples_leaf": 0.5}]
)
def test_a_setting_out_of_range_is_named(wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ChmcnnError, match=f"{name} is {value!r}; expected"):
        fitted(**wrong)


def test_an_ensemble_needs_a_tree_and_can_be_cloned() -> None:
    with pytest.raises(ChmcnnError, match="n_estimators is 0; expected an integer"):
        fitted(ClusEns, n_estimators=0)
    assert clone(ClusEns(n_estimators=7, n_jobs=2)).get_params()["n_estimators"] == 7

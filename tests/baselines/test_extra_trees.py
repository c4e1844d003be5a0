from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor
from tests.baselines.members import DATA, SPARSE_X, refused

from chmcnn import ChmcnnError
from chmcnn.baselines import ExtraTrees, extra_trees
from chmcnn.baselines.extra_trees import Forest


@pytest.mark.parametrize("X", [DATA.train.X, SPARSE_X], ids=["dense", "sparse"])
def test_the_mean_labels_of_the_leaves_are_those_of_scikit_learn(X: np.ndarray | sparse.csr_array) -> None:
    regressor = ExtraTreesRegressor(5, min_samples_leaf=5, random_state=0).fit(X, DATA.train.Y.toarray())
    forest = Forest.join(regressor, X, DATA.train.Y, None)
    np.testing.assert_allclose(forest.score(X), regressor.predict(X), atol=1e-6)


def test_scores_are_coherent_by_themselves_and_do_not_depend_on_the_number_of_jobs() -> None:
    one, two = (
        ExtraTrees(DATA.hierarchy, n_estimators=10, components=4, n_jobs=jobs, random_state=0)
        .fit(DATA.train.X, DATA.train.Y)
        .uncorrected_proba(DATA.test.X)
        for jobs in (1, 2)
    )
    assert np.array_equal(one, two)
    assert len(DATA.hierarchy.violations(one)) == 0


def test_wide_tables_have_a_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extra_trees, "_MOST_FEATURES", 2)
    monkeypatch.setattr(extra_trees, "_DENSE_CELLS", 0)
    model = ExtraTrees(DATA.hierarchy, n_estimators=5, random_state=0).fit(SPARSE_X, DATA.train.Y)
    assert model.notice_ == "Each split is the best of 2 features, drawn from 6."


def test_of_sparse_features_the_fullest_are_split_on() -> None:
    words = sparse.random_array((len(DATA.train), 3000), density=0.01, rng=np.random.default_rng(0), format="csr")
    X = sparse.hstack([words, SPARSE_X], format="csr")
    options = {"n_estimators": 5, "preprocess": False, "random_state": 0}
    model = ExtraTrees(DATA.hierarchy, min_filled=0.1, **options).fit(X, DATA.train.Y)
    alone = ExtraTrees(DATA.hierarchy, **options).fit(SPARSE_X, DATA.train.Y)
    assert set(model.model_.features) <= {0, *range(3000, X.shape[1])}
    assert np.array_equal(model.uncorrected_proba(X), alone.uncorrected_proba(SPARSE_X))


def test_trees_step_aside_where_there_is_nothing_to_split_on_or_too_much() -> None:
    words = sparse.random_array((len(DATA.train), 50), density=0.05, rng=np.random.default_rng(0), format="csr")
    with pytest.raises(ChmcnnError, match=r"no feature is filled in 30% of the rows\. Lower min_filled=\."):
        ExtraTrees(DATA.hierarchy, min_filled=0.3).fit(words, DATA.train.Y)
    with pytest.raises(ChmcnnError, match=r"rows take too long \(most_rows is 10\)\. Raise most_rows=\."):
        ExtraTrees(DATA.hierarchy, most_rows=10).fit(DATA.train.X, DATA.train.Y)


def test_changed_files_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    ExtraTrees(DATA.hierarchy, n_estimators=3, random_state=0).fit(DATA.train.X, DATA.train.Y).save(folder)
    endless = "children of a node do not come after it"
    assert endless in refused(folder, lambda arrays: arrays["children"].fill(0))
    assert "children has positions" in refused(folder, lambda arrays: arrays["children"].fill(1 << 20))
    assert "features has positions" in refused(folder, lambda arrays: arrays["features"].fill(6))
    assert "there are no trees" in refused(folder, lambda arrays: arrays.update(roots=arrays["roots"][:0]))
    assert "thresholds has" in refused(folder, lambda arrays: arrays["thresholds"].fill(np.inf))
    assert "the share of a row" in refused(folder, lambda arrays: arrays["members.data"].fill(-1))
    assert "members.indptr" in refused(folder, lambda arrays: arrays["members.indptr"].fill(1))

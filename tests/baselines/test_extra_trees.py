from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor
from tests.baselines.members import DATA, SPARSE_X, refused

from chmcnn.baselines import ExtraTrees, extra_trees
from chmcnn.baselines.extra_trees import Forest
from chmcnn.training import Rows


@pytest.mark.parametrize("X", [DATA.train.X, SPARSE_X], ids=["dense", "sparse"])
def test_the_mean_labels_of_the_leaves_are_those_of_scikit_learn(X: np.ndarray | sparse.csr_array) -> None:
    regressor = ExtraTreesRegressor(5, min_samples_leaf=5, random_state=0).fit(X, DATA.train.Y.toarray())
    rows = Rows(torch.from_numpy(X.copy()) if isinstance(X, np.ndarray) else X, DATA.train.Y)
    np.testing.assert_allclose(Forest.join(regressor, rows).score(X), regressor.predict(X), atol=1e-6)


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

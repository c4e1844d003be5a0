from pathlib import Path

import numpy as np
import pytest
from sklearn import kernel_ridge
from sklearn.metrics.pairwise import euclidean_distances
from tests.baselines.members import DATA, refused, saved

from chmcnn.baselines import KernelRidge
from chmcnn.baselines import kernel_ridge as module
from chmcnn.baselines.kernel_ridge import Smoother

X = np.random.default_rng(0).normal(size=(40, 3))
KERNEL = np.exp(-euclidean_distances(X))


def test_it_is_the_kernel_ridge_regression_of_scikit_learn() -> None:
    model = KernelRidge(DATA.hierarchy, validation=0, preprocess=False, random_state=0).fit(DATA.train.X, DATA.train.Y)
    scale = model.model_.scale
    theirs = kernel_ridge.KernelRidge(alpha=model.lambda_, kernel="precomputed")
    labels = DATA.train.Y.toarray().astype(float)
    theirs.fit(np.exp(-euclidean_distances(DATA.train.X) / scale), labels - labels.mean(axis=0))
    similar = np.exp(-euclidean_distances(DATA.test.X, DATA.train.X) / scale)
    scores = np.clip(theirs.predict(similar) + labels.mean(axis=0), 0, 1)
    np.testing.assert_allclose(model.uncorrected_proba(DATA.test.X), scores, atol=1e-4)


def test_leave_one_out_is_what_a_model_without_the_row_says() -> None:
    targets = np.random.default_rng(1).normal(size=(40, 2))
    smoother = Smoother.decompose(KERNEL, slice(None))
    rows = np.array([3, 17])
    found = smoother._leave_one_out(rows, targets[rows], smoother.left.T @ targets, 0.3)
    for row, scores in zip(rows, found, strict=True):
        others = np.delete(np.arange(40), row)
        solved = np.linalg.solve(KERNEL[np.ix_(others, others)] + 0.3 * np.eye(39), targets[others])
        np.testing.assert_allclose(scores, KERNEL[row, others] @ solved, atol=1e-9)


def test_all_rows_as_landmarks_are_no_approximation() -> None:
    exact, drawn = Smoother.decompose(KERNEL, slice(None)), Smoother.decompose(KERNEL, np.arange(40))
    labels = DATA.train.Y[:40].astype(float)
    np.testing.assert_allclose(drawn.solve(labels, 1.0), exact.solve(labels, 1.0), atol=1e-5)


def test_many_rows_have_landmarks_and_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = KernelRidge(DATA.hierarchy, landmarks=30, random_state=0).fit(DATA.train.X, DATA.train.Y)
    assert model.notice_ == f"Similarities are to 30 landmarks, drawn from {len(DATA.train.X)} rows."
    assert model.model_.points.shape == (30, 6)
    whole = KernelRidge(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    assert not whole.notice_
    assert model.score(DATA.test.X, DATA.test.Y) > whole.score(DATA.test.X, DATA.test.Y) - 0.1
    loaded = saved(model, tmp_path / "model")
    assert isinstance(loaded, KernelRidge)
    assert (loaded.notice_, loaded.lambda_) == (model.notice_, model.lambda_)
    monkeypatch.setattr(module, "_COEFFICIENTS", 100)  # very many classes leave room for few landmarks
    few = KernelRidge(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    assert few.model_.coefficients.size <= 100


def test_classes_are_solved_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = KernelRidge(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y).predict_proba(DATA.test.X)
    monkeypatch.setattr(module, "_COLUMNS_AT_ONCE", 5)
    parts = KernelRidge(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y).predict_proba(DATA.test.X)
    np.testing.assert_allclose(parts, whole, atol=1e-5)


def test_a_value_without_bounds_is_far_away_from_all_rows() -> None:
    model = KernelRidge(random_state=0).fit(np.eye(20, 2) + 0.1, ["a/b", "a/c"] * 10)
    far, farther = model.predict_proba([[1e9, 0], [1e30, 0]])
    np.testing.assert_allclose(far, farther)


def test_changed_files_are_refused(tmp_path: Path) -> None:
    KernelRidge(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y).save(tmp_path / "model")
    folder = tmp_path / "model"
    assert "learned has positions" in refused(folder, lambda arrays: arrays["learned"].fill(99))
    assert "scale is -1.0" in refused(folder, lambda arrays: arrays["scale"].fill(-1))
    assert "not finite" in refused(folder, lambda arrays: arrays["coefficients"].fill(np.nan))
    assert "points has type" in refused(folder, lambda arrays: arrays.update(points=arrays["points"][:, :2].copy()))

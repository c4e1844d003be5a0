from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from tests.estimator.models import DATA, fitted

from chmcnn import CHMCNNClassifier, ChmcnnError, metrics
from chmcnn.baselines import Coherent
from chmcnn.errors import ModelError
from chmcnn.estimator._calibration import CalibrationMethod, learn_calibration
from chmcnn.estimator._held_out_files import restore_held_out

METHODS: tuple[CalibrationMethod, ...] = get_args(CalibrationMethod)
RANDOM = np.random.default_rng(0)
TRUE = RANDOM.random((4000, 3)) ** 2
LABELS = RANDOM.random(TRUE.shape) < TRUE
SCORES = expit(2 * logit(TRUE) + 0.0).astype(np.float32)  # too sure of everything: a temperature of 2


def calibrated(method: CalibrationMethod) -> np.ndarray:
    return learn_calibration(LABELS, SCORES, method).apply(torch.from_numpy(SCORES)).numpy()


@pytest.mark.parametrize("method", METHODS)
def test_scores_become_the_probabilities_that_they_were_made_from(method: CalibrationMethod) -> None:
    found = calibrated(method)
    assert np.abs(found - TRUE).mean() < 0.02 < np.abs(SCORES - TRUE).mean()
    assert metrics.calibration_error(LABELS, found) < metrics.calibration_error(LABELS, SCORES) / 4
    assert metrics.auprc(LABELS, found) == pytest.approx(metrics.auprc(LABELS, SCORES), abs=1e-4)


def test_isotonic_calibration_is_that_of_scikit_learn() -> None:
    other = IsotonicRegression(out_of_bounds="clip").fit(SCORES.ravel(), LABELS.ravel()).predict(SCORES.ravel())
    assert np.abs(calibrated("isotonic").ravel() - other).mean() < 5e-3


def test_venn_abers_merges_an_isotonic_fit_with_one_more_positive_and_one_with_one_more_negative() -> None:
    scores, truth = np.repeat([0.2, 0.5, 0.8], 4)[:, None], np.array([0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0])[:, None]
    found = learn_calibration(truth, scores, "venn-abers")

    def fit(at: float, label: int) -> float:
        both = np.append(scores, at), np.append(truth, label)
        return float(IsotonicRegression().fit(*both).predict([at])[0])

    for at in (0.2, 0.5, 0.8):
        low, high = fit(at, 0), fit(at, 1)
        assert found.apply(torch.tensor(at)).item() == pytest.approx(high / (1 - low + high), abs=2e-3)


def test_blocks_and_sparse_labels_have_the_same_calibration() -> None:
    whole = learn_calibration(LABELS, SCORES, "isotonic")
    blocks = learn_calibration(sparse.csr_array(LABELS), lambda: iter(np.split(SCORES, [1, 700, 700])), "isotonic")
    assert np.array_equal(whole.probabilities, blocks.probabilities)


def test_a_score_of_0_stays_0_and_many_cells_are_calibrated_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = learn_calibration(LABELS, SCORES, "isotonic")
    assert found.apply(torch.zeros(2)).tolist() == [0, 0]
    whole = found.apply(torch.from_numpy(SCORES))
    monkeypatch.setattr("chmcnn.estimator._calibration._CELLS_AT_ONCE", 7)
    assert torch.equal(found.apply(torch.from_numpy(SCORES)), whole)


@pytest.mark.parametrize("method", METHODS)
def test_a_calibrated_model_predicts_the_same_labels_with_tuned_thresholds_and_is_saved(
    method: CalibrationMethod, tmp_path: Path
) -> None:
    plain, model, X = fitted(), fitted(calibration=method), DATA.test.X
    expected = model.calibration_.apply(torch.from_numpy(plain.predict_proba(X))).numpy()  # type: ignore[union-attr]
    assert np.array_equal(model.predict_proba(X), expected)
    assert not np.array_equal(plain.predict_proba(X), expected)
    assert len(DATA.hierarchy.violations(expected)) == 0
    assert model.predict_top(X[:1], k=1)[0][0].score == pytest.approx(expected[0].max())
    for threshold in ("tune", "hierarchical_f", "fmax"):
        options: dict[str, Any] = {"threshold": threshold}
        assert np.array_equal(model.predict(X, **options), plain.predict(X, **options))
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(X), expected)
    assert loaded.calibration == method


def test_a_model_is_calibrated_on_rows_of_ones_own_and_back() -> None:
    model, X = fitted(), DATA.test.X
    before = model.predict_proba(X)
    model.calibrate(DATA.valid.X, DATA.valid.Y)
    assert model.calibration_ is not None
    after = model.predict_proba(X)
    model.calibrate(DATA.valid.X, DATA.valid.Y, method="isotonic")
    assert np.array_equal(model.predict_proba(X), after)  # not on top of the first
    assert np.array_equal(model.calibrate(DATA.valid.X, DATA.valid.Y, method=None).predict_proba(X), before)
    with pytest.raises(
        ChmcnnError, match="calibration is 'platt'; expected 'temperature' or 'isotonic' or 'venn-abers'"
    ):
        model.calibrate(DATA.valid.X, DATA.valid.Y, method="platt")  # type: ignore[arg-type]


def test_a_warning_says_that_rows_are_too_few() -> None:
    model = fitted()
    with pytest.warns(UserWarning, match="1 row cannot tell probabilities well: calibrate with 30 or more"):
        model.calibrate(DATA.valid.X[:1], DATA.valid.Y[:1])
    with pytest.warns(UserWarning, match="20 rows cannot tell probabilities well"):
        fitted(validation=20 / len(DATA.train), calibration="isotonic")


def test_a_new_training_forgets_the_calibration_and_needs_validation_rows_for_one() -> None:
    model = fitted().calibrate(DATA.valid.X, DATA.valid.Y)
    model.fit(DATA.train.X, DATA.train.Y)
    assert model.calibration_ is None
    with pytest.raises(ChmcnnError, match="calibration='isotonic' needs validation rows: pass validation_data="):
        fitted(calibration="isotonic", validation=0)


def test_every_system_is_calibrated() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    model = Coherent(KNeighborsClassifier(5), DATA.hierarchy, calibration="temperature", random_state=0)
    found = model.fit(DATA.train.X, DATA.train.Y).predict_proba(DATA.test.X)
    assert model.calibration_ is not None
    assert len(DATA.hierarchy.violations(found)) == 0


@pytest.mark.parametrize(
    ("tensors", "problem"),
    [
        (
            {"calibration.isotonic": torch.tensor([[0.0, 0.5, 1.0], [0.0, 0.5, 0.4]])},
            "calibration is not an increasing map",
        ),
        (
            {"risks.rows": torch.tensor(3), **{f"risks.{of}": torch.zeros(2) for of in ("missed", "wrong", "deepest")}},
            r"risks missed have shape \(2,\)",
        ),
    ],
)
def test_a_file_that_would_break_the_hierarchy_is_refused(tensors: dict[str, torch.Tensor], problem: str) -> None:
    with pytest.raises(ModelError, match=problem):
        restore_held_out(fitted(epochs=1), tensors)

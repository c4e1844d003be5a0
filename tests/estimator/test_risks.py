from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from tests.estimator.models import DATA, fitted

from chmcnn import CHMCNNClassifier, ChmcnnError, metrics
from chmcnn.estimator._calibration import SCORE_GRID
from chmcnn.estimator._correction import correct
from chmcnn.estimator._risks import Limit, RiskCurves, RiskOf, measure_risks

LOSSES: dict[str, dict[str, Any]] = {"missed": {}, "wrong": {"risk_of": "wrong"}, "deepest": {"back_off": True}}


def lose(of: str, truth: np.ndarray, found: np.ndarray) -> float:
    wrong = (found & ~truth).sum(axis=1)
    return float(
        {
            "missed": (truth & ~found).sum(axis=1) / np.maximum(truth.sum(axis=1), 1),
            "wrong": wrong / np.maximum(found.sum(axis=1), 1),
            "deepest": wrong > 0,
        }[of].mean()
    )


@pytest.mark.parametrize("of", LOSSES)
def test_answers_keep_the_risk_on_the_rows_of_the_guarantee_and_more_risk_says_more(of: str) -> None:
    model = fitted(epochs=20).guarantee(DATA.test.X, DATA.test.Y)
    truth, sizes = DATA.test.Y.toarray(), []
    for risk in (0.05, 0.2, 0.5):
        found = model.predict(DATA.test.X, risk=risk, **LOSSES[of]).astype(bool)
        assert lose(of, truth, found) <= risk
        assert len(DATA.hierarchy.violations(found)) == 0
        assert model.predict_labels(DATA.test.X, risk=risk, **LOSSES[of]) == DATA.hierarchy.decode(found)
        packed = model.predict(DATA.test.X, risk=risk, **LOSSES[of], sparse_output=True)
        assert np.array_equal(packed.toarray(), found)
        sizes.append(int(found.sum()))
    assert sizes == sorted(sizes, reverse=of == "missed")
    assert len(set(sizes)) == 3


def test_a_mean_over_many_splits_is_the_risk_that_was_asked_for() -> None:
    random = np.random.default_rng(0)
    truth = DATA.hierarchy.close(random.random((4000, 15)) < 0.1)
    noise = random.normal(size=truth.shape)
    raw = torch.tensor(3 * truth - 1 + noise).sigmoid()
    coherent = correct(raw, DATA.hierarchy, above=DATA.hierarchy.reversed).numpy()
    kinds: list[RiskOf] = ["missed", "wrong", "deepest"]
    for of in kinds:
        held = []
        for seed in range(10):
            rows = np.random.default_rng(seed).permutation(len(truth))
            first, second = rows[:400], rows[400:]
            threshold = measure_risks(truth[first], coherent[first], DATA.hierarchy).find_threshold(Limit(0.1, of))
            test = measure_risks(truth[second], coherent[second], DATA.hierarchy, thresholds=np.array([threshold]))
            held.append(float(test.risks[of][0]))
        assert np.mean(held) == pytest.approx(0.1, abs=0.01)


def test_scores_are_read_once_for_all_risks() -> None:
    scores, reads = fitted(epochs=3).predict_proba(DATA.test.X), []

    def read() -> Any:
        reads.append(1)
        return iter(np.array_split(scores, 3))

    curves = measure_risks(DATA.test.Y, read, DATA.hierarchy, DATA.evaluated)
    assert len(reads) == 1
    counted, shares = SCORE_GRID >= 1e-3, np.ones(len(SCORE_GRID))
    shares[counted] = metrics.wrong_share(DATA.test.Y, scores, SCORE_GRID[counted], classes=DATA.evaluated)
    missed = metrics.missed_share(DATA.test.Y, scores, SCORE_GRID, classes=DATA.evaluated)
    deepest = metrics.back_off_error(DATA.test.Y, scores, SCORE_GRID, DATA.hierarchy)
    expected: dict[RiskOf, Any] = {"missed": missed, "wrong": shares, "deepest": deepest}
    assert all(np.array_equal(curves.risks[of], risks) for of, risks in expected.items())


def test_back_off_answers_one_path_and_stops_where_it_is_unsure() -> None:
    model = fitted(epochs=20)
    safe, deep = (model.predict(DATA.test.X, risk=risk, back_off=True) for risk in (0.05, 0.6))
    assert ((deep - safe) >= 0).all()
    for row, names in enumerate(model.predict_labels(DATA.test.X, risk=0.6, back_off=True, most_specific=True)):
        assert len(names) <= 1
        closed = {*names, *(other for name in names for other in DATA.hierarchy.ancestors(name))}
        assert DATA.hierarchy.decode(deep[[row]])[0] == closed


def test_confidence_makes_answers_more_cautious() -> None:
    model = fitted(epochs=20)
    plain, sure = (model.predict(DATA.test.X, risk=0.3, confidence=confidence).sum() for confidence in (None, 0.95))
    assert sure > plain
    plain, sure = (
        model.predict(DATA.test.X, risk=0.3, risk_of="wrong", confidence=confidence).sum()
        for confidence in (None, 0.95)
    )
    assert sure < plain


def test_a_calibration_changes_no_answer() -> None:
    plain, model = fitted(epochs=10), fitted(epochs=10, calibration="isotonic")
    for options in LOSSES.values():
        ours, expected = (each.predict(DATA.test.X, risk=0.2, **options) for each in (model, plain))
        assert np.array_equal(ours, expected)


def test_risks_are_saved(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model")
    assert loaded.risks_ is not None
    assert loaded.risks_.rows == model.risks_.rows == 36  # type: ignore[union-attr]  # a fifth of the training rows
    assert np.array_equal(loaded.predict(DATA.test.X, risk=0.2), model.predict(DATA.test.X, risk=0.2))


def test_blocks_and_sparse_labels_have_the_same_risks() -> None:
    scores, truth = fitted().predict_proba(DATA.test.X), DATA.test.Y.toarray()
    counted = np.arange(15) != 3
    whole = measure_risks(truth, scores, DATA.hierarchy, counted)
    blocks = measure_risks(
        sparse.csr_array(truth), lambda: iter(np.split(scores, [1, 30, 30])), DATA.hierarchy, counted
    )
    assert whole.rows == blocks.rows == len(truth)
    assert all(np.array_equal(whole.risks[of], blocks.risks[of]) for of in whole.risks)


def test_a_risk_that_cannot_be_reached_is_told_with_the_least_that_can() -> None:
    curves = RiskCurves(19, {"missed": SCORE_GRID, "wrong": np.full(len(SCORE_GRID), 0.5)})
    assert curves.find_threshold(Limit(0.05)) == 0
    with pytest.raises(
        ChmcnnError, match=r"A risk of 0.04 cannot be reached: with 19 held-out rows the least is 0.05\."
    ):
        curves.find_threshold(Limit(0.04))
    with pytest.raises(ChmcnnError, match=r"the least is 0.53\. Ask for that or more, or hold out more rows"):
        curves.find_threshold(Limit(0.1, "wrong"))
    assert curves.find_threshold(Limit(0.12, "missed", 0.9)) < 0.01
    with pytest.raises(ChmcnnError, match=r"A risk of 0.1 cannot be reached: with 19 held-out rows the least is 0.12"):
        curves.find_threshold(Limit(0.1, "missed", 0.9))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"risk": 0}, "risk is 0; expected a number above 0 and below 1"),
        ({"risk": 1.0}, "risk is 1.0; expected a number above 0 and below 1"),
        ({"risk": 0.1, "confidence": 90}, "confidence is 90; expected a number above 0 and below 1"),
        ({"risk": 0.1, "risk_of": "all"}, "risk_of is 'all'; expected 'missed' or 'wrong'"),
        ({"risk": 0.1, "threshold": 0.5}, "threshold and risk were both passed"),
        ({"risk": 0.1, "risk_of": "missed", "back_off": True}, "back_off limits the risk of a wrong answer"),
        ({"back_off": True}, "back_off was passed without a risk; pass risk= too"),
        ({"risk_of": "wrong"}, "risk_of was passed without a risk"),
        ({"risk": 0.001}, "A risk of 0.001 cannot be reached: with 36 held-out rows the least is 0.028"),
    ],
)
def test_what_cannot_be_asked_is_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ChmcnnError, match=message):
        fitted(epochs=1).predict_labels(DATA.test.X, **options)


def test_a_model_without_held_out_rows_says_how_to_get_them() -> None:
    model = fitted(validation=0)
    with pytest.raises(ChmcnnError, match=r"no held-out rows to base a risk of 0.1 on; train it with validation rows"):
        model.predict(DATA.test.X, risk=0.1)
    assert model.guarantee(DATA.valid.X, DATA.valid.Y).predict(DATA.test.X, risk=0.1).any()

import numpy as np
import pytest
from tests.estimator.models import DATA, fitted

from chmcnn import metrics
from chmcnn.evaluation import evaluate


def test_an_evaluation_has_the_calibration_before_and_after_and_the_risks_that_were_found() -> None:
    model, plain, truth = fitted(calibration="isotonic"), fitted(), DATA.test.Y.toarray()
    trust = evaluate(model, DATA.test.X, DATA.test.Y, "test", repeats=2).trust
    assert trust is not None
    assert trust.method == "isotonic"
    assert trust.error == pytest.approx(metrics.calibration_error(truth, model.predict_proba(DATA.test.X)))
    before = metrics.calibration_error(truth, plain.predict_proba(DATA.test.X))
    assert trust.error_before == pytest.approx(before, abs=1e-4)
    assert [(each.of, each.asked) for each in trust.risks] == [
        (of, asked) for of in ("missed", "wrong", "deepest") for asked in (0.05, 0.1, 0.2)
    ]
    found = {(each.of, each.asked): each for each in trust.risks}
    answers = model.predict(DATA.test.X, risk=0.2).astype(bool)
    missed = (truth & ~answers).sum(axis=1) / np.maximum(truth.sum(axis=1), 1)
    assert found["missed", 0.2].found == pytest.approx(missed.mean())
    assert found["missed", 0.2].classes == pytest.approx(answers.sum() / len(truth))
    path = model.predict(DATA.test.X, risk=0.2, back_off=True).astype(bool)
    assert found["deepest", 0.2].found == pytest.approx((path & ~truth).any(axis=1).mean())


def test_a_model_without_calibration_and_held_out_rows_has_neither() -> None:
    trust = evaluate(fitted(validation=0), DATA.test.X, DATA.test.Y, "test", repeats=2).trust
    assert trust is not None
    assert (trust.method, trust.before, trust.risks) == (None, {}, [])
    assert trust.error_before == trust.error
    assert trust.facts()["levels before"] == {}

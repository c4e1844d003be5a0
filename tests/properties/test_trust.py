"""Calibrated scores and answers with a limited risk never contradict the hierarchy, and limits are kept."""

from typing import get_args

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import hierarchies, labels, scores

from chmcnn import metrics
from chmcnn.constraint import max_constraint
from chmcnn.estimator._answering import Answering
from chmcnn.estimator._calibration import SCORE_GRID, Calibration, CalibrationMethod, learn_calibration
from chmcnn.estimator._risks import Limit, RiskOf, measure_risks

METHODS: tuple[CalibrationMethod, ...] = get_args(CalibrationMethod)


@given(data=st.data(), method=st.sampled_from(METHODS), ties=st.booleans())
def test_calibrated_scores_are_coherent_probabilities_in_the_same_order(
    data: st.DataObject, method: CalibrationMethod, ties: bool
) -> None:
    hierarchy = data.draw(hierarchies())
    raw = max_constraint(data.draw(scores(hierarchy, 6, ties=ties)), hierarchy).float()
    truth = data.draw(labels(hierarchy, 6)).numpy()
    found = learn_calibration(truth, raw.numpy(), method)
    calibrated = found.apply(raw)
    assert len(hierarchy.violations(calibrated)) == 0
    assert calibrated.min() >= 0
    assert calibrated.max() <= 1
    assert torch.equal(raw.ravel().argsort(stable=True), calibrated.ravel().argsort(stable=True))
    torch.testing.assert_close(found.invert(calibrated), raw, atol=1e-4, rtol=0)


@given(points=st.lists(st.integers(1, 10**6 - 1), min_size=1, max_size=30, unique=True), seed=st.integers(0, 2**32 - 1))
def test_no_rounding_breaks_the_order_of_calibrated_scores(points: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    x = np.array([0, *sorted(points), 10**6]) / 10**6
    found = Calibration("isotonic", x, np.sort(random.random(len(x))))
    near = x.astype(np.float32)
    steps = np.sort(np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, 1)]))
    assert (np.diff(found.apply(torch.from_numpy(steps)).numpy()) >= 0).all()


@given(data=st.data(), risk=st.floats(0.15, 0.95), ties=st.booleans())
def test_answers_with_a_limited_risk_are_closed_and_keep_it_on_the_held_out_rows(
    data: st.DataObject, risk: float, ties: bool
) -> None:
    hierarchy = data.draw(hierarchies())
    rows = 8
    values = max_constraint(data.draw(scores(hierarchy, rows, ties=ties)), hierarchy).float().numpy()
    truth = data.draw(labels(hierarchy, rows)).numpy()
    curves = measure_risks(truth, values, hierarchy)
    kinds: tuple[RiskOf, ...] = get_args(RiskOf)
    for of in kinds:
        threshold = curves.find_threshold(Limit(risk, of))
        found = Answering(hierarchy, np.full(len(hierarchy), threshold), one_path=of == "deepest").answer(values)
        assert len(hierarchy.violations(found)) == 0
        missed = (truth & ~found).sum(axis=1) / np.maximum(truth.sum(axis=1), 1)
        wrong = (found & ~truth).sum(axis=1) / np.maximum(found.sum(axis=1), 1)
        losses = {"missed": missed, "wrong": wrong, "deepest": (found & ~truth).any(axis=1)}[of]
        assert (losses.sum() + 1) / (rows + 1) <= risk + 1e-9


@given(data=st.data(), ties=st.booleans())
def test_missed_classes_rise_and_wrong_paths_fall_with_the_threshold(data: st.DataObject, ties: bool) -> None:
    hierarchy = data.draw(hierarchies())
    values = max_constraint(data.draw(scores(hierarchy, 5, ties=ties)), hierarchy).numpy()
    truth = data.draw(labels(hierarchy, 5)).numpy()
    assert (np.diff(metrics.missed_share(truth, values, SCORE_GRID)) >= 0).all()
    assert (np.diff(metrics.back_off_error(truth, values, SCORE_GRID, hierarchy)) <= 0).all()

"""What holds of measures on hierarchies of every shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import hierarchies, labels, scores

from chmcnn import metrics
from chmcnn.constraint import max_constraint

quick = settings(deadline=None, max_examples=60)


@quick
@given(data=st.data(), ties=st.booleans(), threshold=st.floats(0, 1))
def test_constrained_scores_and_labels_have_no_violation(data: st.DataObject, ties: bool, threshold: float) -> None:
    hierarchy = data.draw(hierarchies())
    constrained = max_constraint(data.draw(scores(hierarchy, rows=3, ties=ties)), hierarchy)
    assert metrics.violations(constrained, hierarchy) == (0, 0, 0)
    assert metrics.violations(constrained >= threshold, hierarchy) == (0, 0, 0)
    assert metrics.violations(data.draw(labels(hierarchy, rows=3)), hierarchy) == (0, 0, 0)


@quick
@given(data=st.data(), ties=st.booleans())
def test_violations_add_up_over_classes_and_levels(data: st.DataObject, ties: bool) -> None:
    hierarchy = data.draw(hierarchies())
    raw = data.draw(scores(hierarchy, rows=3, ties=ties)).numpy()
    whole = metrics.violations(raw, hierarchy)
    assert whole.number == len(hierarchy.violations(raw))
    assert (whole.number == 0) == (whole.rows == 0) == (whole.pairs == 0)
    for group in (metrics.by_class, metrics.by_level):
        parts = group(lambda _, raw, classes: metrics.violations(raw, hierarchy, classes=classes), raw, raw, hierarchy)
        assert sum(part.number for part in parts.values()) == whole.number
        assert max(part.rows for part in parts.values()) <= whole.rows


@quick
@given(data=st.data())
def test_wrong_pairs_add_up_over_classes_and_levels(data: st.DataObject) -> None:
    hierarchy = data.draw(hierarchies())
    truth, predicted = (data.draw(labels(hierarchy, rows=4)).numpy() for _ in range(2))
    whole = metrics.hamming(truth, predicted)
    classes = metrics.by_class(metrics.hamming, truth, predicted, hierarchy)
    assert np.mean(list(classes.values())) == pytest.approx(whole)
    levels = metrics.by_level(metrics.hamming, truth, predicted, hierarchy)
    sizes = np.bincount(hierarchy.depths)
    assert sum(levels[level] * sizes[level] for level in levels) == pytest.approx(whole * len(hierarchy))
    exact = metrics.by_class(metrics.exact_match, truth, predicted, hierarchy)
    assert list(exact.values()) == pytest.approx([1 - wrong for wrong in classes.values()])


@quick
@given(data=st.data())
def test_the_mean_over_classes_is_that_of_classes_with_a_row(data: st.DataObject) -> None:
    hierarchy = data.draw(hierarchies())
    truth, raw = data.draw(labels(hierarchy, rows=4)).numpy(), data.draw(scores(hierarchy, rows=4)).numpy()
    each = metrics.by_class(metrics.auprc, truth, raw, hierarchy)
    known = [area for area in each.values() if not np.isnan(area)]
    expected = np.mean(known) if known else np.nan
    assert metrics.cmap(truth, raw) == pytest.approx(expected, nan_ok=True)

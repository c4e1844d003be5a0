"""What holds of measures on hierarchies of every shape."""

from collections.abc import Callable
from dataclasses import astuple, is_dataclass
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from tests.strategies import hierarchies, labels, scores

from chmcnn import Hierarchy, ScoreError, metrics
from chmcnn.constraint import max_constraint
from chmcnn.metrics import _inputs

quick = settings(max_examples=40)


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


Measured = Callable[[Any, Any], Any]


def list_measures(hierarchy: Hierarchy, known: Any, classes: NDArray[np.int64]) -> list[tuple[Measured, bool]]:
    """All measures with their options, and whether they take predicted labels."""
    weights = np.linspace(0.1, 3, len(hierarchy))
    averages = ("micro", "macro", "weighted", None)
    areas = [partial(metrics.auprc, average=each, interpolate=how) for each in averages for how in (False, True)]
    of_scores: list[Any] = [
        *areas,
        metrics.precision_recall_curve,
        metrics.points_by_class,
        partial(metrics.sweep, steps=7),
        metrics.fmax,
        partial(metrics.fmax, steps=2),
        partial(metrics.fmax, information=weights, known=known),
        partial(metrics.smin, information=weights),
        partial(metrics.precision_at_k, k=1),
        partial(metrics.recall_at_k, k=1),
        metrics.r_precision,
        metrics.calibration_error,
    ]
    of_labels: list[Any] = [
        *(partial(metrics.hierarchical, average=each) for each in ("micro", "macro")),
        *(partial(metrics.jaccard, average=each) for each in ("micro", "macro")),
        metrics.exact_match,
        metrics.hamming,
    ]
    others: list[Any] = [
        lambda Y, scores: metrics.leaf_accuracy(Y, scores, hierarchy),
        lambda Y, scores: metrics.mistake_severity(Y, scores, hierarchy),
        lambda _, scores: metrics.violations(scores, hierarchy, classes=classes),
        lambda Y, scores: metrics.by_class(metrics.auprc, Y, scores, hierarchy),
        lambda Y, scores: metrics.by_level(metrics.fmax, Y, scores, hierarchy, classes=classes),
        lambda Y, scores: metrics.bootstrap(metrics.auprc, Y, scores, repeats=3),
    ]
    chosen = [(measure, True) for measure in of_labels] + [(measure, False) for measure in of_scores]
    selected = [(partial(measure, classes=classes), is_labels) for measure, is_labels in chosen]
    return [*chosen, *selected, *((measure, False) for measure in others)]


def flatten(result: Any) -> list[Any]:
    """All numbers of a result."""
    parts = astuple(result) if is_dataclass(result) and not isinstance(result, type) else result
    parts = [*parts, *parts.values()] if isinstance(parts, dict) else parts
    nested = isinstance(parts, tuple | list | np.ndarray)
    return [number for part in parts for number in flatten(part)] if nested else [parts]


def outcome(measure: Measured, Y: Any, answers: Any) -> Any:
    """What a measure says, or why it says nothing."""
    try:
        return flatten(measure(Y, answers))
    except ScoreError as error:
        return [str(error)]


@settings(max_examples=10)  # each compares all measures
@given(data=st.data(), ties=st.booleans(), kind=st.sampled_from([np.float32, np.float64]), cells=st.integers(1, 60))
def test_no_partition_into_blocks_changes_a_measure_in_its_last_digit(
    data: st.DataObject, ties: bool, kind: type[np.floating], cells: int
) -> None:
    hierarchy, rows = data.draw(hierarchies()), 9
    truth, known = (data.draw(labels(hierarchy, rows)).numpy() for _ in range(2))
    raw = data.draw(scores(hierarchy, rows, ties=ties)).numpy().astype(kind)
    cuts = sorted(data.draw(st.lists(st.integers(0, rows), max_size=4)))
    classes = np.array(data.draw(st.lists(st.integers(0, len(hierarchy) - 1), min_size=1, max_size=5)))
    for measure, takes_labels in list_measures(hierarchy, known, classes):
        answers = raw >= 0.5 if takes_labels else raw
        whole = outcome(measure, truth, answers)
        blocks = np.split(answers, cuts)
        with mock.patch.object(_inputs, "_CELLS_AT_ONCE", cells):
            for Y, given_scores in (
                (truth, blocks),
                (sparse.csr_array(truth), lambda parts=blocks: iter(parts)),
                (sparse.csr_matrix(truth.astype(np.int8)), answers),
                (sparse.csc_array(truth), [sparse.csr_array(block) for block in blocks]),
            ):
                np.testing.assert_array_equal(np.array(outcome(measure, Y, given_scores)), np.array(whole))

import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import (
    average_precision_score,
    hamming_loss,
    jaccard_score,
    precision_recall_fscore_support,
)

from chmcnn import Hierarchy, ScoreError, metrics
from chmcnn.datasets.synthetic import random_hierarchy

DAG = random_hierarchy(12, edges=16, depth=3, seed=0)
RANDOM = np.random.default_rng(0)
SCORES = RANDOM.random((60, 12))
PREDICTED = SCORES > 0.5
TRUTH = RANDOM.random(SCORES.shape) < SCORES
INFORMATION = metrics.information_content(TRUTH, DAG)


def violations(_: object, scores: Any, classes: Any = None) -> metrics.ViolationCount:
    return metrics.violations(scores, DAG, classes=classes)


MEASURES = [
    (metrics.auprc, SCORES),
    (partial(metrics.auprc, interpolate=True), SCORES),
    (metrics.cmap, SCORES),
    (metrics.fmax, SCORES),
    (partial(metrics.smin, information=INFORMATION), SCORES),
    (metrics.calibration_error, SCORES),
    (metrics.hierarchical, PREDICTED),
    (metrics.exact_match, PREDICTED),
    (metrics.hamming, PREDICTED),
    (metrics.jaccard, PREDICTED),
    (violations, SCORES),
]


@pytest.mark.parametrize(("measure", "values"), MEASURES)
def test_every_measure_is_taken_of_each_class_and_of_each_level(measure: Any, values: Any) -> None:
    classes = metrics.by_class(measure, TRUTH, values, DAG)
    assert classes == {name: measure(TRUTH, values, classes=[at]) for at, name in enumerate(DAG.classes)}
    levels = metrics.by_level(measure, TRUTH, values, DAG)
    assert levels == {level: measure(TRUTH, values, classes=DAG.depths == level) for level in range(DAG.depth + 1)}


def test_classes_are_measured_as_scikit_learn_does() -> None:
    found = np.array(list(metrics.by_class(metrics.hierarchical, TRUTH, PREDICTED, DAG).values()))
    np.testing.assert_allclose(found.T, precision_recall_fscore_support(TRUTH, PREDICTED)[:3])
    areas = list(metrics.by_class(metrics.auprc, TRUTH, SCORES, DAG).values())
    np.testing.assert_allclose(areas, average_precision_score(TRUTH, SCORES, average=None))
    shares = list(metrics.by_class(partial(metrics.jaccard, average="micro"), TRUTH, PREDICTED, DAG).values())
    np.testing.assert_allclose(shares, jaccard_score(TRUTH, PREDICTED, average=None))
    wrong = [hamming_loss(TRUTH[:, at], PREDICTED[:, at]) for at in range(12)]
    assert list(metrics.by_class(metrics.hamming, TRUTH, PREDICTED, DAG).values()) == pytest.approx(wrong)


def test_classes_that_do_not_count_are_left_out() -> None:
    below = DAG.depths > 0
    expected = [name for name, counted in zip(DAG.classes, below, strict=True) if counted]
    assert list(metrics.by_class(metrics.auprc, TRUTH, SCORES, DAG, classes=below)) == expected
    assert list(metrics.by_level(metrics.auprc, TRUTH, SCORES, DAG, classes=below)) == [1, 2, 3]
    assert metrics.by_class(metrics.auprc, TRUTH, SCORES, DAG, classes=DAG.depths > 9) == {}


def test_labels_may_be_sparse() -> None:
    packed = sparse.csr_array(TRUTH)
    for measure in (metrics.auprc, partial(metrics.smin, information=INFORMATION)):
        for group in (metrics.by_class, metrics.by_level):
            assert group(measure, packed, SCORES, DAG) == group(measure, TRUTH, SCORES, DAG)


@pytest.mark.parametrize("group", [metrics.by_class, metrics.by_level])
def test_bad_input_is_told(group: Any) -> None:
    with pytest.raises(ScoreError, match=r"Labels have shape \(60, 3\), but the hierarchy has 12 classes"):
        group(metrics.auprc, TRUTH[:, :3], SCORES[:, :3], DAG)
    with pytest.raises(ScoreError, match=r"classes\[0\] is 12, but there are 12 classes"):
        group(metrics.auprc, TRUTH, SCORES, DAG, classes=[12])


@pytest.mark.parametrize("measure", [metrics.auprc, metrics.fmax, metrics.hierarchical])
def test_the_memory_of_by_class_does_not_grow_with_the_square_of_the_classes(measure: Any) -> None:
    classes = 1000
    tree = Hierarchy.from_edges([(f"c{at // 4}", f"c{at}") for at in range(1, classes)])
    predicted = RANDOM.random((25, classes)) < 0.5
    tracemalloc.start()
    try:
        assert len(metrics.by_class(measure, predicted, predicted, tree)) == classes
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * predicted.nbytes

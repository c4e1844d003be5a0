"""Measures by name, and measures of the user."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as sklearn_metrics

from chmcnn import ChmcnnError, Hierarchy, ScoreError, metrics
from chmcnn.metrics import MEASURE_NAMES, MEASURES, Outcome, find_measure, find_measures, list_stored

TREE = Hierarchy.from_paths(["a/b", "a/c", "d/e"])
RANDOM = np.random.default_rng(0)
TRUTH = TREE.close(RANDOM.random((20, 5)) < 0.3)
SCORES = RANDOM.random((20, 5))
CLASSES = np.array([True, True, True, False, True])
OUTCOME = Outcome(TRUTH, SCORES, SCORES >= 0.5, TREE, CLASSES, np.arange(5.0))


def gain(Y: Any, scores: Any, hierarchy: Hierarchy, *, classes: Any, scale: float = 2.0) -> float:
    """A measure of the user that asks for what there is."""
    assert hierarchy is TREE
    assert Y.dtype == bool
    return scale * float(scores[:, classes].sum())


def edit_distance(Y: Any, y_pred: Any) -> int:
    return int((y_pred != Y).sum())


def no_number(Y: Any, scores: Any) -> Any:
    return Y, scores


def too_much(Y: Any, scores: Any, weights: Any) -> float:
    del Y, scores, weights
    return 0.0


@pytest.mark.parametrize("name", MEASURE_NAMES)
def test_every_measure_has_a_value_a_title_and_a_line_of_help(name: str) -> None:
    measure = find_measure(name)
    assert (measure.name, measure.key) == (name, name)
    assert measure.title
    assert measure.help
    if name not in {"precision@5", "recall@5"}:
        assert np.isfinite(measure.compute(OUTCOME))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("auprc", metrics.auprc(TRUTH, SCORES, classes=CLASSES)),
        ("auprc_macro", metrics.auprc(TRUTH, SCORES, classes=CLASSES, average="macro")),
        ("fmax", metrics.fmax(TRUTH, SCORES, classes=CLASSES).value),
        ("weighted_fmax", metrics.fmax(TRUTH, SCORES, classes=CLASSES, information=range(5)).value),
        ("smin", metrics.smin(TRUTH, SCORES, list(range(5)), classes=CLASSES).value),
        ("hierarchical_f", metrics.hierarchical(TRUTH, SCORES >= 0.5, classes=CLASSES).f),
        ("precision@2", metrics.precision_at_k(TRUTH, SCORES, 2, classes=CLASSES)),
        ("recall@3", metrics.recall_at_k(TRUTH, SCORES, 3, classes=CLASSES)),
        ("leaf_accuracy", metrics.leaf_accuracy(TRUTH, SCORES, TREE, classes=CLASSES)),
        ("mistake_severity", metrics.mistake_severity(TRUTH, SCORES, TREE, classes=CLASSES)),
        ("hamming", metrics.hamming(TRUTH, SCORES >= 0.5, classes=CLASSES)),
    ],
)
def test_a_name_stands_for_a_function_of_this_package(name: str, expected: float) -> None:
    assert find_measure(name).compute(OUTCOME) == expected


def test_lower_is_better_where_it_is() -> None:
    lower = {name for name, measure in MEASURES.items() if not measure.higher_is_better}
    assert lower == {"smin", "hamming", "mistake_severity", "calibration_error"}
    assert not find_measure("sklearn.metrics:hamming_loss").higher_is_better
    assert not find_measure(edit_distance).higher_is_better
    assert find_measure(gain).higher_is_better


def test_a_function_gets_what_its_parameters_ask_for() -> None:
    assert find_measure(gain).compute(OUTCOME) == pytest.approx(2 * SCORES[:, CLASSES].sum())
    assert find_measure(edit_distance).compute(OUTCOME) == ((SCORES >= 0.5) != TRUTH).sum()
    ours = find_measure("sklearn.metrics:label_ranking_average_precision_score").compute(OUTCOME)
    assert ours == sklearn_metrics.label_ranking_average_precision_score(TRUTH, SCORES)
    ours = find_measure("sklearn.metrics:accuracy_score").compute(OUTCOME)
    assert ours == sklearn_metrics.accuracy_score(TRUTH, SCORES >= 0.5)


def test_a_function_may_have_a_title_and_say_what_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gain, "title", "My gain", raising=False)
    monkeypatch.setattr(gain, "higher_is_better", False, raising=False)
    monkeypatch.setattr(gain, "version", 3, raising=False)
    found = find_measure(gain)
    assert (found.name, found.title, found.higher_is_better) == ("gain", "My gain", False)
    assert found.key == f"{gain.__module__}:gain#3"


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("auprcc", "Unknown measure 'auprcc'. Did you mean 'auprc'. Measures: auprc, auprc_macro"),
        ("precision@0", "Unknown measure 'precision@0'"),
        ("precision@", "Unknown measure 'precision@'"),
        ("sklearn.metrics:f1_scores", r"has no 'f1_scores'. Did you mean 'f1_score'\?"),
        ("numpy:pi", "'numpy:pi' is of type float; expected a function"),
        ("numpy:ndarray", "'numpy:ndarray' is of type type; expected a function"),
        (too_much, r"too_much' has the parameters Y, scores, weights; expected the true labels and the scores"),
        ("builtins:len", "'builtins:len' has the parameters obj; expected the true labels and the scores"),
    ],
)
def test_what_is_no_measure_is_refused(wanted: Any, told: str) -> None:
    with pytest.raises(ChmcnnError, match=told):
        find_measure(wanted)


def test_a_function_must_return_a_number() -> None:
    with pytest.raises(ChmcnnError, match=r"no_number' returns a tuple; expected a number"):
        find_measure(no_number).compute(OUTCOME)


def test_a_function_gets_arrays_of_sparse_labels_and_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = Outcome(sparse.csr_array(TRUTH), lambda: iter([SCORES[:3], SCORES[3:]]), lambda: [SCORES >= 0.5], TREE)
    assert find_measure(edit_distance).compute(blocks) == find_measure(edit_distance).compute(OUTCOME)
    ours = find_measure("sklearn.metrics:label_ranking_average_precision_score")
    assert ours.compute(blocks) == ours.compute(OUTCOME)
    monkeypatch.setattr("chmcnn.metrics.measures.CELLS_IN_MEMORY", 99)
    assert find_measure("auprc").compute(blocks) == metrics.auprc(TRUTH, SCORES)
    assert np.isfinite(ours.compute(OUTCOME))
    with pytest.raises(ChmcnnError, match=r"score' needs all scores at once, but 20 rows of 5 classes are more"):
        ours.compute(blocks)


def test_information_is_asked_for_where_it_is_needed() -> None:
    with pytest.raises(ScoreError, match="smin needs the information of the classes: pass information="):
        find_measure("smin").compute(Outcome(TRUTH, SCORES, SCORES >= 0.5, TREE))


def test_no_two_measures_have_the_same_name() -> None:
    with pytest.raises(ChmcnnError, match="Measure 'auprc' is listed twice"):
        find_measures(("auprc", "fmax", "auprc"))
    keys = [measure.key for measure in list_stored()]
    assert len(keys) == len(set(keys))


def test_more_places_than_classes_are_not_defined() -> None:
    assert np.isnan(find_measure("precision@5").compute(OUTCOME))

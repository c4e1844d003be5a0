import copy
import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score, precision_recall_fscore_support

from chmcnn import CHMCNNClassifier, ChmcnnError, ScoreError, metrics
from chmcnn._io.strict_json import dumps
from chmcnn.datasets.synthetic import learnable
from chmcnn.evaluation import Evaluation, evaluate

DATA = learnable(rows=200, classes=12, depth=3)
TEST = DATA.test
TRUTH = TEST.Y.toarray()


@pytest.fixture(scope="module")
def model() -> CHMCNNClassifier:
    return CHMCNNClassifier(DATA.hierarchy, epochs=5, random_state=0).fit(DATA.train.X, DATA.train.Y)


@pytest.fixture(scope="module")
def evaluation(model: CHMCNNClassifier) -> Evaluation:
    return evaluate(model, TEST.X, TEST.Y, "test", repeats=20)


def test_classes_have_the_figures_of_scikit_learn(model: CHMCNNClassifier, evaluation: Evaluation) -> None:
    areas = [each.auprc for each in evaluation.by_class.values()]
    assert areas == sorted(areas, reverse=True)
    assert set(evaluation.by_class) == set(np.array(DATA.hierarchy.classes)[TRUTH.any(axis=0)])
    scores, predicted = model.predict_proba(TEST.X), model.predict(TEST.X)
    for name, each in evaluation.by_class.items():
        at = DATA.hierarchy.index(name)
        truth = TRUTH[:, at]
        expected = precision_recall_fscore_support(truth, predicted[:, at], average="binary", zero_division=0.0)
        assert (each.precision, each.recall, each.f) == pytest.approx(expected[:3])
        assert each.auprc == pytest.approx(average_precision_score(truth, scores[:, at]))
        assert each.rows == truth.sum()


def test_levels_have_their_main_figures(model: CHMCNNClassifier, evaluation: Evaluation) -> None:
    assert sum(level.classes for level in evaluation.levels.values()) == evaluation.classes == 12
    deep = DATA.hierarchy.depths == 2
    assert evaluation.levels[2].auprc == metrics.auprc(TEST.Y, model.predict_proba(TEST.X), classes=deep)
    assert evaluation.levels[2].f == metrics.hierarchical(TEST.Y, model.predict(TEST.X), classes=deep).f


def test_smin_needs_what_training_rows_tell(model: CHMCNNClassifier, evaluation: Evaluation) -> None:
    assert "Smin" not in evaluation.figures
    content = metrics.information_content(DATA.train.Y, DATA.hierarchy)
    figures = evaluate(model, TEST.X, TEST.Y, "test", information=content, repeats=1).figures
    assert figures["Smin"] == metrics.smin(TEST.Y, model.predict_proba(TEST.X), content).value
    assert figures["violations"] == 0


def test_machines_read_names_of_figures(evaluation: Evaluation) -> None:
    facts = evaluation.facts()
    assert set(facts["levels"][0]) == {"classes", "auprc", "precision", "recall", "f"}
    assert set(next(iter(facts["by_class"].values()))) == {"rows", "auprc", "precision", "recall", "f"}
    assert '"low"' in dumps(facts)


def test_examples_go_from_the_best_to_the_worst_row(model: CHMCNNClassifier, evaluation: Evaluation) -> None:
    predicted, scores = model.predict(TEST.X).astype(bool), model.predict_proba(TEST.X)
    both = 2 * (TRUTH & predicted).sum(axis=1) / (TRUTH.sum(axis=1) + predicted.sum(axis=1))
    shown = [example.f for example in evaluation.examples]
    assert shown == sorted(shown, reverse=True)
    assert (shown[0], shown[-1]) == pytest.approx((both.max(), both.min()))
    for example in evaluation.examples:
        row = int(example.row.removeprefix("row "))
        named = {each.name: each for each in example.answers}
        either = {DATA.hierarchy.classes[at] for at in np.flatnonzero(TRUTH[row] | predicted[row])}
        assert set(named) == {name for name in either if not either & set(DATA.hierarchy.descendants(name))}
        assert sum(example.others.values()) == len(either) - len(named)
        for name, each in named.items():
            at = DATA.hierarchy.index(name)
            expected = {(True, True): "right", (False, True): "wrong", (True, False): "missed"}
            assert each.verdict == expected[bool(TRUTH[row, at]), bool(predicted[row, at])]
            assert each.score == pytest.approx(scores[row, at])


def test_examples_have_the_names_of_the_rows_and_only_classes_that_count() -> None:
    counted = np.array(DATA.hierarchy.classes) != DATA.hierarchy.classes[0]
    model = CHMCNNClassifier(DATA.hierarchy, epochs=1, evaluated=counted, random_state=0)
    model.fit(DATA.train.X, DATA.train.Y)
    X = pd.DataFrame(TEST.X, index=[f"gene {number}" for number in range(len(TEST))])
    examples = evaluate(model, X, TEST.Y, "test", repeats=1).examples
    assert all(example.row.startswith("gene ") for example in examples)
    assert DATA.hierarchy.classes[0] not in {each.name for example in examples for each in example.answers}
    one = evaluate(model, X[:1], TEST.Y[:1], "test", repeats=1).examples
    assert [example.row for example in one] == ["gene 0"]


def test_a_row_without_classes_is_no_example(model: CHMCNNClassifier) -> None:
    strict = copy.copy(model).set_params(threshold=1.0)  # nothing is predicted
    truth = np.zeros((5, len(DATA.hierarchy)), dtype=np.bool_)
    examples = evaluate(strict, TEST.X[:5], truth | (np.arange(5) == 2)[:, None], "test", repeats=1).examples
    assert [(example.row, example.f) for example in examples] == [("row 2", 0.0)]
    assert {each.verdict for each in examples[0].answers} == {"missed"}


def test_few_rows_have_no_interval(model: CHMCNNClassifier) -> None:
    small = evaluate(model, TEST.X[:9], TEST.Y[:9], "test")
    assert small.describe_interval() == "not computed: 9 rows"
    assert not math.isnan(evaluate(model, TEST.X[:10], TEST.Y[:10], "test", repeats=5).auprc.low)


def test_a_large_table_has_the_same_figures_but_no_interval(
    model: CHMCNNClassifier, evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("chmcnn.metrics.CELLS_IN_MEMORY", "chmcnn.metrics.measures.CELLS_IN_MEMORY"):
        monkeypatch.setattr(name, 100)
    monkeypatch.setattr("chmcnn.estimator._predicting._CELLS_AT_ONCE", 60)
    monkeypatch.setattr("chmcnn._io.spool._BYTES_AT_ONCE", 300)
    large = evaluate(model, TEST.X, sparse.csr_array(TEST.Y), "test")
    assert math.isnan(large.auprc.low)
    cells = f"{TEST.Y.shape[0] * 12:,}"
    assert large.describe_interval() == f"not computed: {cells} cells"
    assert large.facts()["auprc"]["interval"] == f"not computed: {cells} cells"
    assert "interval" not in evaluation.facts()["auprc"]
    assert large.auprc.value == pytest.approx(evaluation.auprc.value)
    assert large.figures == pytest.approx(evaluation.figures)
    assert large.delegations == evaluation.delegations
    assert set(large.by_class) == set(evaluation.by_class)
    for name, figures in large.by_class.items():
        assert figures.auprc == pytest.approx(evaluation.by_class[name].auprc)
    assert [(each.row, each.f) for each in large.examples] == [(each.row, each.f) for each in evaluation.examples]
    with pytest.raises(ChmcnnError, match="needs all scores at once"):
        evaluate(model, TEST.X, TEST.Y, "test", measures=[metrics.find_measure("sklearn.metrics:coverage_error")])


def test_features_and_labels_of_different_rows_are_told(model: CHMCNNClassifier) -> None:
    with pytest.raises(ScoreError, match="X has more rows than Y, which has 3"):
        evaluate(model, TEST.X, TEST.Y[:3], "test")
    with pytest.raises(ScoreError, match="The blocks of scores have only 3 rows"):
        evaluate(model, TEST.X[:3], TEST.Y, "test")

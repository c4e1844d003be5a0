"""How each class is predicted, compared with counting one row after another."""

import copy
from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve

from chmcnn import CHMCNNClassifier
from chmcnn.datasets.synthetic import learnable
from chmcnn.evaluation import RECALLS, ClassProfiles, Frequent, evaluate
from chmcnn.evaluation._profiles import PairCounts, pair_confusions

DATA = learnable(rows=300, classes=14, depth=3, edges=18)
TRUTH = DATA.test.Y.toarray().astype(bool)


@pytest.fixture(scope="module")
def model() -> CHMCNNClassifier:
    classifier = CHMCNNClassifier(DATA.hierarchy, epochs=3, widths=(8,), threshold=0.3, random_state=0)
    return classifier.fit(DATA.train.X, DATA.train.Y)


@pytest.fixture(scope="module")
def profiles(model: CHMCNNClassifier) -> ClassProfiles:
    found = evaluate(model, DATA.test.X, DATA.test.Y, "test", repeats=1).profiles
    assert found is not None
    return found


def count_pairs(frequent: Frequent) -> Counter[tuple[int, int]]:
    pairs = zip(frequent[0].tolist(), frequent[1].tolist(), strict=True)
    return Counter(dict(zip(pairs, frequent.counts.tolist(), strict=True)))


def test_confusions_are_missed_and_wrong_classes_of_the_same_row(
    model: CHMCNNClassifier, profiles: ClassProfiles
) -> None:
    predicted = model.predict(DATA.test.X).astype(bool)
    expected: Counter[tuple[int, int]] = Counter()
    for true, said in zip(TRUTH, predicted, strict=True):
        expected.update((int(a), int(b)) for a in np.flatnonzero(true & ~said) for b in np.flatnonzero(said & ~true))
    assert expected
    for frequent, pairs in (
        (profiles.replaced_by, expected),
        (profiles.replaces, Counter({(b, a): count for (a, b), count in expected.items()})),
    ):
        found = count_pairs(frequent)
        assert found.items() <= pairs.items()
        for at in range(len(DATA.hierarchy)):
            of = sorted((count for (first, _), count in pairs.items() if first == at), reverse=True)
            assert [count for _, count in frequent.of(at)] == of[:5], "the most frequent ones"


def test_delegates_are_those_of_the_explanations(model: CHMCNNClassifier, profiles: ClassProfiles) -> None:
    index = model.hierarchy_.index
    expected = Counter(
        (index(reason.name), index(reason.delegate)) for row in model.explain(DATA.test.X) for reason in row.reasons
    )
    assert count_pairs(profiles.delegates).items() <= expected.items()
    assert {at for at, _ in expected} == set(profiles.delegates.classes.tolist())


def test_a_class_without_a_test_row_has_a_delegate_and_one_that_does_not_count_has_rows(
    model: CHMCNNClassifier,
) -> None:
    predicted = np.flatnonzero(model.predict(DATA.test.X).any(axis=0))
    rows = ~TRUTH[:, predicted[-1]]
    other = copy.copy(model)
    other.evaluated_ = np.arange(TRUTH.shape[1]) != predicted[0]
    found = evaluate(other, DATA.test.X[rows], DATA.test.Y[rows], "test", repeats=1).profiles
    assert found is not None
    assert found.rows.tolist() == TRUTH[rows].sum(axis=0).tolist()
    itself = {at for at, partner in count_pairs(found.delegates) if at == partner}
    expected = {
        model.hierarchy_.index(reason.name)
        for row in model.explain(DATA.test.X[rows])
        for reason in row.reasons
        if reason.name == reason.delegate
    }
    assert predicted[-1] in expected
    assert itself == expected - {predicted[0]}


def test_curves_are_those_of_scikit_learn(model: CHMCNNClassifier, profiles: ClassProfiles) -> None:
    scores = model.predict_proba(DATA.test.X)
    for at in range(len(DATA.hierarchy)):
        if not TRUTH[:, at].any():
            assert np.isnan(profiles.curves[at]).all()
            continue
        precision, recall, _ = precision_recall_curve(TRUTH[:, at], scores[:, at], drop_intermediate=False)
        precision, recall = precision[-2::-1], recall[-2::-1]  # the highest threshold first, without the last point
        for wanted, found in zip(RECALLS, profiles.curves[at], strict=True):
            reached = np.flatnonzero((recall >= wanted - 1e-9) & (recall > 0))[0]
            assert found == pytest.approx(precision[reached])


def test_rare_pairs_are_forgotten_when_there_are_too_many() -> None:
    counts = PairCounts(100, most=40)
    for _ in range(3):
        counts.add(np.array([7, 7]), np.array([1, 2]))
        counts.add(np.arange(30), np.arange(30)[::-1])
    classes, partners, numbers = counts.pairs()
    assert len(classes) <= 50
    assert counts.most_frequent().of(7)[:2] == [(1, 3), (2, 3)]
    assert numbers.max() == 3
    assert partners.max() < 30


def test_only_the_highest_of_a_row_are_paired() -> None:
    true = np.zeros((1, 80), dtype=bool)
    true[0, :40] = True
    scores = np.arange(80, dtype=np.float32)[None] / 100
    missed, wrong = pair_confusions(true, ~true, scores, np.ones(80, dtype=bool))
    assert (set(missed), set(wrong)) == (set(range(8, 40)), set(range(48, 80)))

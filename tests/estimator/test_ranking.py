from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from tests.estimator.models import DATA, fitted
from torch.utils.data import DataLoader, TensorDataset

from chmcnn import CHMCNNClassifier, ChmcnnError, Hierarchy, HierarchyError
from chmcnn.baselines import SYSTEMS
from chmcnn.estimator import RankedClass
from chmcnn.estimator._ranking import Ranker

TREE = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("c", "d")])


def ranked(scores: list[float], **options: Any) -> list[str]:
    found = Ranker(TREE, **options).rank(np.array([scores]))
    return [TREE.classes[column] for column in found.columns]


def test_the_best_come_first_and_a_class_before_its_descendants() -> None:
    assert ranked([0.9, 0.3, 0.7, 0.7]) == ["a", "c", "d", "b"]
    assert ranked([0.5] * 4) == ["a", "b", "c", "d"]
    assert ranked([0.5] * 4, k=2) == ["a", "b"]
    backwards = Hierarchy.from_edges([("z", "a")])
    assert Ranker(backwards, 1).rank(np.array([[0.5, 0.5]])).columns.tolist() == [1]
    assert ranked([0.9, 0.3, 0.7, 0.2], min_score=0.3) == ["a", "c", "b"]
    assert ranked([0.9, 0.3, 0.7, 0.2], within="c") == ["c", "d"]
    assert ranked([0.9, 0.3, 0.7, 0.2], most_specific=True) == ["b", "d"]
    assert ranked([0.9, 0.3, 0.7, 0.2], most_specific=True, min_score=0.25) == ["c", "b"]
    assert ranked([0.9, 0.3, 0.7, 0.2], most_specific=True, k=1, min_score=0.25) == ["c"]
    assert ranked([0.2] * 4, min_score=0.3, k=2) == []


@pytest.mark.parametrize("k", [1, 3, 15, 99, None])
@pytest.mark.parametrize("within", [None, "c01"])
def test_it_is_a_sorted_row_of_scores(k: int | None, within: str | None) -> None:
    random = np.random.default_rng(0)
    hierarchy = DATA.hierarchy
    scores = np.round(random.random((200, len(hierarchy))), 1)  # many ties
    kept = {within, *hierarchy.descendants(within)} if within else set(hierarchy)
    found = Ranker(hierarchy, k, min_score=0.3, within=within).rank(scores)
    for row in range(200):
        expected = sorted(
            (at for at in range(len(hierarchy)) if hierarchy.classes[at] in kept and scores[row, at] >= 0.3),
            key=lambda at: (-scores[row, at], hierarchy.depths[at], at),
        )
        assert found.columns[found.rows == row].tolist() == expected[:k]
        assert found.scores[found.rows == row].tolist() == scores[row, expected[:k]].tolist()


def test_the_best_classes_of_rows_in_any_form_computed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted()
    X = DATA.test.X
    whole = model.predict_top(X, 4)
    scores = model.predict_proba(X)
    assert len(whole) == len(X)
    for row, best in enumerate(whole):
        assert [score for _, score in best] == sorted(scores[row].tolist(), reverse=True)[:4]
        assert all(scores[row, DATA.hierarchy.index(name)] == score for name, score in best)
    assert isinstance(whole[0][0], RankedClass)
    sizes: list[int] = []
    predict = CHMCNNClassifier.predict_proba

    def watched(self: CHMCNNClassifier, rows: Any) -> Any:
        sizes.append(len(rows))
        return predict(self, rows)

    monkeypatch.setattr(CHMCNNClassifier, "predict_proba", watched)
    monkeypatch.setattr("chmcnn.estimator._predicting._CELLS_AT_ONCE", 7 * 15 + 1)
    for form in (X, X.tolist()):
        sizes.clear()
        blocks = model.predict_top(form, 4)
        assert [[name for name, _ in row] for row in blocks] == [[name for name, _ in row] for row in whole]
        assert sizes == [7] * 8 + [4]
    assert model.predict_labels(X) == DATA.hierarchy.decode(model.predict(X))
    monkeypatch.undo()
    thin = CHMCNNClassifier(DATA.hierarchy, epochs=1, widths=(4,), random_state=0).fit(sparse.csr_array(X), DATA.test.Y)
    assert [len(row) for row in thin.predict_top(sparse.coo_array(X), 4)] == [4] * len(X)


def test_the_best_classes_of_a_dataset_and_of_a_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    data = TensorDataset(torch.tensor(DATA.train.X), torch.tensor(DATA.train.Y.toarray()))
    model = CHMCNNClassifier(DATA.hierarchy, epochs=2, random_state=0).fit(data)
    monkeypatch.setattr("chmcnn.estimator._predicting._CELLS_AT_ONCE", 100)
    expected = model.predict_top(DATA.train.X.astype(np.float32), 3)
    assert len(expected) == len(data)
    for form in (data, DataLoader(data, batch_size=50)):
        found = model.predict_top(form, 3)
        assert [[name for name, _ in row] for row in found] == [[name for name, _ in row] for row in expected]
    with pytest.raises(ChmcnnError, match="X is a Dataset or DataLoader, but this model was trained on a table"):
        fitted().predict_top(data)


def test_the_best_classes_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a red ball", "two blue cars", "one red car", "blue balls"] * 10
    model = CHMCNNClassifier(preprocess=TfidfVectorizer(), epochs=3, random_state=0)
    model.fit(texts, ["toy/ball", "toy/car", "toy/car", "toy/ball"] * 10)
    whole = model.predict_top(texts[:9], 2)
    monkeypatch.setattr("chmcnn.estimator._predicting._CELLS_AT_ONCE", 6)
    found = model.predict_top(texts[:9], 2)
    assert [[name for name, _ in row] for row in found] == [[name for name, _ in row] for row in whole]


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "hiclass"])
def test_every_system_has_them(name: str) -> None:
    options: dict[str, Any] = {"epochs": 1} if "epochs" in SYSTEMS[name]().get_params() else {}
    model: Any = SYSTEMS[name](DATA.hierarchy, random_state=0, **options).fit(DATA.train.X[:60], DATA.train.Y[:60])
    best = model.predict_top(DATA.test.X[:3], 5, min_score=0.01)
    assert all(row[0].name == "c00" and len(row) <= 5 for row in best)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"k": 0}, "k is 0; expected an integer, 1 or more."),
        ({"k": 2.5}, "k is 2.5; expected an integer"),
        ({"min_score": 2}, "min_score is 2; expected a number from 0 to 1."),
        ({"min_score": float("nan")}, "min_score is nan; expected"),
    ],
)
def test_a_wrong_option_is_told(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ChmcnnError, match=told):
        fitted(epochs=1).predict_top(DATA.test.X, **options)


def test_an_unknown_class_and_an_unfitted_model_are_told() -> None:
    with pytest.raises(HierarchyError, match=r"Unknown class 'c001'\. Did you mean 'c01'\?"):
        fitted(epochs=1).predict_top(DATA.test.X, within="c001")
    with pytest.raises(NotFittedError):
        CHMCNNClassifier(DATA.hierarchy).predict_top(DATA.test.X)

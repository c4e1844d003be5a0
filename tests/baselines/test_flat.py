import sys
from typing import Any

import numpy as np
import pytest
from hiclass import LocalClassifierPerParentNode
from scipy.sparse import csr_array, vstack
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from chmcnn import ChmcnnError, Hierarchy, metrics
from chmcnn.baselines import HiClass, Logistic
from chmcnn.datasets.synthetic import learnable

DATA = learnable(rows=300, features=8, classes=15, depth=3, labels=1, noise=0.3)
PATHS = ["animal/dog", "animal/cat", "plant/tree/oak", "plant/tree/fir", "fungus"]


def single_path() -> tuple[np.ndarray, list[str]]:
    """Rows around one point for each path; one path ends at a root."""
    random = np.random.default_rng(0)
    kinds = random.integers(len(PATHS), size=200)
    points = random.normal(size=(len(PATHS), 4)) * 3
    return points[kinds] + random.normal(size=(200, 4)), [PATHS[kind] for kind in kinds]


def test_logistic_regression_is_one_linear_layer() -> None:
    model = Logistic(DATA.hierarchy, epochs=2, random_state=0).fit(DATA.train.X, DATA.train.Y)
    shapes = {name: tuple(values.shape) for name, values in model.network_.state_dict().items()}
    assert shapes == {"0.weight": (len(DATA.hierarchy), 8), "0.bias": (len(DATA.hierarchy),)}


def test_logistic_regression_ranks_about_as_that_of_scikit_learn() -> None:
    model = Logistic(DATA.hierarchy, evaluated=DATA.evaluated, random_state=0)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))
    rows, labels = (
        np.concatenate([DATA.train.X, DATA.valid.X]),
        vstack([DATA.train.Y, DATA.valid.Y]).toarray(),
    )
    scores = np.ones(DATA.test.Y.shape)
    for column in np.flatnonzero(DATA.evaluated):
        one = LogisticRegression(max_iter=1000)
        if 0 < labels[:, column].sum() < len(labels):
            scores[:, column] = one.fit(rows, labels[:, column]).predict_proba(DATA.test.X)[:, 1]
    theirs = metrics.auprc(DATA.test.Y, scores, classes=DATA.evaluated)
    assert model.score(DATA.test.X, DATA.test.Y) == pytest.approx(theirs, abs=0.03)


def test_hiclass_is_an_estimator_for_rows_with_a_single_path() -> None:
    x, y = single_path()
    model = clone(HiClass(random_state=0)).fit(x[:150], y[:150])
    scores = model.predict_proba(x[150:])
    assert len(model.hierarchy_.violations(scores)) == 0
    assert len(model.hierarchy_.violations(model.predict(x[150:]))) == 0
    assert model.score(x[150:], y[150:]) > 0.9
    roots = [model.hierarchy_.index(name) for name in model.hierarchy_.roots]
    np.testing.assert_allclose(scores[:, roots].sum(axis=1), 1, atol=1e-6)


def test_hiclass_itself_predicts_the_same_classes() -> None:
    x, y = single_path()
    theirs = LocalClassifierPerParentNode(LogisticRegression(max_iter=1000))
    theirs.fit(x, [[*path.split("/"), "", ""][:3] for path in y])
    paths = ["/".join(filter(None, names)) for names in theirs.predict(x)]
    model = HiClass(preprocess=False).fit(x, y)
    scores = model.predict_proba(x)
    for row, path in enumerate(paths):
        name = path
        while name in model.hierarchy_:  # the classifier of each parent on the path chose this child
            siblings = model.hierarchy_.children(name.rpartition("/")[0]) if "/" in name else model.hierarchy_.roots
            assert max(siblings, key=lambda other: scores[row, model.hierarchy_.index(other)]) == name
            name = name.rpartition("/")[0]


def test_hiclass_scores_a_row_alike_alone_and_among_others() -> None:
    x, y = single_path()
    model = HiClass().fit(x, y)
    np.testing.assert_allclose(model.predict_proba(x[:1]), model.predict_proba(x)[:1], atol=1e-6)


def test_hiclass_learns_from_all_rows_in_the_end() -> None:
    x, y = single_path()
    tuned, plain = HiClass(threshold="tune", random_state=0).fit(x, y), HiClass(random_state=0).fit(x, y)
    assert np.array_equal(tuned.predict_proba(x), plain.predict_proba(x))
    assert len(set(tuned.thresholds_)) > 1
    assert len(tuned.hierarchy_.violations(tuned.predict(x))) == 0


def test_hiclass_takes_sparse_matrices_and_classes_that_no_row_has() -> None:
    x, y = single_path()
    hierarchy = Hierarchy.from_paths([*PATHS, "animal/cow"])
    dense, sparse = (
        HiClass(hierarchy, preprocess=False).fit(kind, [{path} for path in y]).predict_proba(kind)
        for kind in (x, csr_array(x))
    )
    np.testing.assert_allclose(sparse, dense, atol=1e-6)
    assert (dense[:, hierarchy.index("animal/cow")] == 0).all()


@pytest.mark.parametrize(
    ("hierarchy", "labels", "message"),
    [
        (
            Hierarchy.from_edges([("animal", "dog"), ("pet", "dog")]),
            [{"dog"}, {"pet"}],
            r"needs a tree, but class 'dog' has the parents 'animal', 'pet'. Use C-HMCNN",
        ),
        (
            Hierarchy.from_paths(["a/b", "a/c"]),
            [{"a/b"}, {"a/b", "a/c"}],
            r"one most specific class, but row 1 has 'a/b', 'a/c'. Use C-HMCNN",
        ),
        (Hierarchy.from_paths(["a/b", "a/c"]), [{"a/b"}, set()], "but row 1 has none"),
    ],
)
def test_hiclass_says_why_it_cannot_be_used(hierarchy: Hierarchy, labels: Any, message: str) -> None:
    with pytest.raises(ChmcnnError, match=message):
        HiClass(hierarchy).fit([[0.0], [1.0]], labels)


def test_without_hiclass_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hiclass", None)
    with pytest.raises(ChmcnnError, match=r'pip install "chmcnn\[compare\]"'):
        HiClass().fit(*single_path())

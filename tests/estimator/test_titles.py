import numpy as np
import pytest
from tests.estimator.models import DATA, QUICK

from chmcnn import CHMCNNClassifier, Hierarchy
from chmcnn.baselines import ClusHMC
from chmcnn.datasets.dataset import Table
from chmcnn.evaluation import evaluate
from chmcnn.report import overview

LONG = "a title of many words " * 20


@pytest.fixture(scope="module")
def hierarchy() -> Hierarchy:
    """The classes of the data with titles, one of them long."""
    titles = {name: f"class number {number}" for number, name in enumerate(DATA.hierarchy)}
    first, second, *_ = DATA.hierarchy
    return DATA.hierarchy.with_titles(titles | {first: LONG, second: '<script>alert("&")</script>'})


@pytest.fixture(scope="module")
def model(hierarchy: Hierarchy) -> CHMCNNClassifier:
    return CHMCNNClassifier(hierarchy, **QUICK, preset="paper").fit(DATA.train.X, DATA.train.Y)  # which delegates


def test_an_evaluation_has_the_titles_of_its_classes(model: CHMCNNClassifier, hierarchy: Hierarchy) -> None:
    evaluation = evaluate(model, DATA.test.X, DATA.test.Y, "test", repeats=2)
    assert evaluation.titles == {name: hierarchy.titles[name] for name in hierarchy if name in evaluation.by_class}
    assert evaluation.facts()["titles"] == evaluation.titles


def test_a_picture_has_short_titles(hierarchy: Hierarchy) -> None:
    table = Table(DATA.train.X, DATA.train.Y, hierarchy)
    shown = overview.overview("mine", table, np.ones(len(hierarchy), dtype=bool))
    texts = [text.get_text() for text in overview.draw(shown).axes[0].texts]
    assert "class number 3" in texts
    assert "a title of many words …" in texts
    assert max(map(len, texts)) <= 24


def test_explanations_and_rules_have_titles(model: CHMCNNClassifier, hierarchy: Hierarchy) -> None:
    explained = model.explain(DATA.test.X[:1], threshold=0.0)[0]
    text = str(explained)
    assert "c03 class number 3  0." in text
    assert "delegates to c" in text
    titles = {fact["name"]: fact["title"] for fact in explained.facts()}
    assert titles == hierarchy.titles
    assert "class number" in ClusHMC(hierarchy).fit(DATA.train.X, DATA.train.Y).to_text()


def test_a_training_resumes_with_other_titles(hierarchy: Hierarchy, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("state")
    models = [
        CHMCNNClassifier(classes, **QUICK, checkpoint=folder).fit(DATA.train.X, DATA.train.Y)
        for classes in (hierarchy, DATA.hierarchy)
    ]
    assert np.array_equal(models[0].predict_proba(DATA.test.X), models[1].predict_proba(DATA.test.X))


def test_a_model_folder_keeps_titles(model: CHMCNNClassifier, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("model") / "model"
    model.save(folder)
    assert CHMCNNClassifier.load(folder).hierarchy_.titles == model.hierarchy_.titles

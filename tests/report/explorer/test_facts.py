"""What is known about each class, in memory and in a model folder."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chmcnn import CHMCNNClassifier, Hierarchy, ModelError
from chmcnn.datasets.synthetic import learnable
from chmcnn.estimator import save_model
from chmcnn.evaluation import Evaluation, evaluate
from chmcnn.report.explorer import ClassFacts, create_facts, read_facts

DATA = learnable(rows=100, classes=12, depth=3)


@pytest.fixture(scope="module")
def model() -> CHMCNNClassifier:
    return CHMCNNClassifier(DATA.hierarchy, epochs=3, widths=(8,), random_state=0).fit(DATA.train.X, DATA.train.Y)


@pytest.fixture(scope="module")
def evaluation(model: CHMCNNClassifier) -> Evaluation:
    return evaluate(model, DATA.test.X, DATA.test.Y, "test", repeats=1)


@pytest.fixture(scope="module")
def facts(evaluation: Evaluation) -> ClassFacts:
    return create_facts(DATA.hierarchy, np.arange(12), "training rows", evaluation)


def save(model: CHMCNNClassifier, facts: bytes | None, folder: Path) -> Path:
    save_model(model, folder / "model", force=True, class_facts=facts)
    return folder / "model"


def test_a_folder_returns_the_facts_that_it_was_given(
    model: CHMCNNClassifier, facts: ClassFacts, tmp_path: Path
) -> None:
    folder = save(model, facts.to_json(), tmp_path)
    assert read_facts(folder, DATA.hierarchy) == facts
    CHMCNNClassifier.load(folder)
    save(model, b"{}", tmp_path)  # a new model replaces them
    save(model, None, tmp_path)
    assert read_facts(folder, DATA.hierarchy) is None
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".safetensors"]


def test_facts_of_a_model_without_an_evaluation(model: CHMCNNClassifier, tmp_path: Path) -> None:
    facts = create_facts(DATA.hierarchy, np.arange(12), "training rows", None)
    read = read_facts(save(model, facts.to_json(), tmp_path), DATA.hierarchy)
    assert read == facts
    assert read is not None
    assert (read.measures(3), read.partners("delegates", 3)) == (None, [])


def test_measures_and_partners_of_a_class(facts: ClassFacts, evaluation: Evaluation) -> None:
    name, first = next(iter(evaluation.by_class.items()))
    at = DATA.hierarchy.index(name)
    measures = facts.measures(at)
    assert measures is not None
    assert measures["auprc"] == round(first.auprc, 3)
    assert evaluation.profiles is not None
    assert facts.partners("delegates", at) == evaluation.profiles.delegates.of(at)
    assert facts.curves[at] == (evaluation.profiles.curves[at] * 100).round().tolist()


def test_facts_that_were_changed_are_refused(model: CHMCNNClassifier, facts: ClassFacts, tmp_path: Path) -> None:
    folder = save(model, facts.to_json(), tmp_path)
    (folder / "class_facts.json").write_bytes(facts.to_json() + b" ")
    with pytest.raises(ModelError, match=r"class_facts.json: the file does not match model.json"):
        read_facts(folder, DATA.hierarchy)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rows": [1]}, "rows is not a list of 12 entries of its kind"),
        ({"rows": [-1] * 12}, "rows is not a list of 12 entries of its kind"),
        ({"auprc": [2.0] * 12}, "auprc is not a list of 12 entries of its kind"),
        ({"curves": [[101]] * 12}, "curves is not a list of 12 entries of its kind"),
        ({"delegates": [[12, 1]] * 12}, "delegates is not a list of 12 entries of its kind"),
        ({"replaces": [[1]] * 12}, "replaces is not a list of 12 entries of its kind"),
        ({"evaluation": {"title": 3}}, "evaluation has no title"),
        ({"evaluation": {"title": "t", "rows": 3, "auprc": "high"}}, "evaluation has no measures"),
        ({"evaluation": {"title": "t", "rows": 3, "auprc": 1, "figures": {"F": []}}}, "evaluation has no measures"),
        (
            {"evaluation": {"title": "t", "rows": 3, "auprc": 1, "figures": {"F": math.nan}}},
            "evaluation has no measures that are numbers",
        ),
        (
            {"evaluation": {"title": "t", "rows": 3, "auprc": 1, "figures": {}, "more": math.nan}},
            "evaluation has also 'more'",
        ),
        ({"counted": None}, "counted is not text"),
        ({"more": 1}, "unexpected keyword argument 'more'"),
    ],
)
def test_facts_of_a_stranger_are_checked(
    model: CHMCNNClassifier, facts: ClassFacts, tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    content = json.dumps(json.loads(facts.to_json()) | change).encode()
    with pytest.raises(ModelError, match=f"the facts about the classes cannot be used: .*{told}"):
        read_facts(save(model, content, tmp_path), DATA.hierarchy)


def test_facts_that_are_no_json_are_refused(model: CHMCNNClassifier, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the facts about the classes cannot be used: Expecting"):
        read_facts(save(model, b"{", tmp_path), DATA.hierarchy)


def test_a_class_without_a_test_row_has_no_measures() -> None:
    hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "c")])
    labels = [{"b"}, {"c"}] * 10
    model = CHMCNNClassifier(hierarchy, epochs=1, widths=(4,), random_state=0).fit([[0.0], [1.0]] * 10, labels)
    evaluation = evaluate(model, [[0.0]], hierarchy.encode([{"b"}]), "test", repeats=1)
    facts = create_facts(hierarchy, np.array([20, 10, 10]), "training rows", evaluation)
    at = hierarchy.index("c")
    assert (facts.test_rows[at], facts.measures(at), facts.curves[at]) == (0, None, None)

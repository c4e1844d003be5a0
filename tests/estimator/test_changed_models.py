"""Models that were changed after they were saved, by chance or by a stranger."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
import torch
from safetensors.torch import load_file
from sklearn.feature_extraction.text import TfidfVectorizer
from tests.changed_models import change_facts, change_tensors
from tests.estimator.models import DATA, fitted
from tests.estimator.texts import LABELS, OPTIONS, TEXTS

from chmcnn import CHMCNNClassifier, Hierarchy, ModelError


def test_models_of_version_1_are_read(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "model")
    change_facts(tmp_path / "model", {"version": 1})
    again = CHMCNNClassifier.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(DATA.test.X), model.predict_proba(DATA.test.X))


def test_files_that_are_no_models_are_told(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")

    def refused(change: Any) -> str:
        folder = tmp_path / "broken"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "model", folder)
        change(folder)
        with pytest.raises(ModelError) as caught:
            CHMCNNClassifier.load(folder)
        return str(caught.value)

    def facts(folder: Path, **changes: object) -> None:
        content = json.loads((folder / "model.json").read_text())
        (folder / "model.json").write_text(json.dumps(content | changes))

    weights = tmp_path / "model" / "model.safetensors"
    assert "the folder has no model.json" in refused(lambda folder: (folder / "model.json").unlink())
    assert "is incomplete or was changed" in refused(lambda folder: (folder / "model.json").write_text('{"format'))
    assert "not a model; expected" in refused(lambda folder: facts(folder, format="other"))
    assert "the model has version 3, but chmcnn" in refused(lambda folder: facts(folder, version=3))
    assert "the file cannot be read" in refused(lambda folder: (folder / "model.safetensors").unlink())
    assert "is incomplete or was changed" in refused(
        lambda folder: (folder / "model.safetensors").write_bytes(weights.read_bytes()[:-1])
    )
    settings = json.loads((tmp_path / "model" / "model.json").read_text())["settings"]
    for change in (
        {"features": 3},
        {"settings": settings | {"widths": [17]}},
        {"settings": settings | {"checkpoint": "x"}},
    ):
        assert "the file was changed after it was written" in refused(
            lambda folder, change=change: facts(folder, **change)
        )

    for change in ({"features": 3}, {"features": [1]}, {"categories": "x"}, {"settings": settings | {"widths": [17]}}):
        assert "the model is inconsistent" in refused(lambda folder, change=change: change_facts(folder, change))


def test_changed_transformers_are_refused(tmp_path: Path) -> None:
    CHMCNNClassifier(**OPTIONS, preprocess=TfidfVectorizer()).fit(TEXTS, LABELS).save(tmp_path / "model")
    file = tmp_path / "model" / "preprocessing.skops"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with pytest.raises(ModelError, match=r"preprocessing\.skops: the file does not match model\.json"):
        CHMCNNClassifier.load(tmp_path / "model")
    hostile = skops.io.dumps(TfidfVectorizer(tokenizer=print))
    change_facts(tmp_path / "model", {"sha256 of the transformer": hashlib.sha256(hostile).hexdigest()})
    file.write_bytes(hostile)
    with pytest.raises(ModelError, match=r"preprocessing\.skops: it has builtins\.print \(TypeNode\), which is"):
        CHMCNNClassifier.load(tmp_path / "model")
    file.unlink()
    with pytest.raises(ModelError, match=r"preprocessing\.skops: the file cannot be read: No such file"):
        CHMCNNClassifier.load(tmp_path / "model")


def test_changed_words_are_refused(tmp_path: Path) -> None:
    CHMCNNClassifier(**OPTIONS).fit(TEXTS, LABELS).save(tmp_path / "model")
    tensors = load_file(tmp_path / "model" / "model.safetensors")
    for change in (
        {"text.0.terms": torch.tensor(list(b"{}"), dtype=torch.uint8)},
        {"text.0.terms": torch.tensor(list(b"not JSON"), dtype=torch.uint8)},
        {"text.0.terms": tensors["text.0.terms"], "text.0.idf": tensors["text.0.idf"][:-1].clone()},
    ):
        change_tensors(tmp_path / "model", change)
        with pytest.raises(ModelError, match="the model is inconsistent"):
            CHMCNNClassifier.load(tmp_path / "model")


def test_learned_classes_without_their_ancestors_are_refused(tmp_path: Path) -> None:
    hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d")])
    model = CHMCNNClassifier(hierarchy, epochs=1, widths=(4,), random_state=0)
    model.fit([[0.0], [1.0]] * 5, [{"a"}, {"b"}] * 5).save(tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    learned = load_file(file)["learned"]
    assert learned.tolist() == [True, True, False, False]
    for mask in (
        torch.tensor([False, True, True, False]),
        learned[:3].clone(),
        learned.int(),
        torch.zeros_like(learned),
    ):
        change_tensors(tmp_path / "model", {"learned": mask})
        with pytest.raises(ModelError, match=r"the model is inconsistent: .*learned"):
            CHMCNNClassifier.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"thresholds.tune": torch.full((15,), np.nan)}, "thresholds tune have shape .* expected 15 finite numbers"),
        ({"scales": torch.full((8,), np.inf, dtype=torch.float64)}, "scales that are not above 0"),
        ({"scales": torch.zeros(8, dtype=torch.float64)}, "scales that are not above 0"),
        ({"means": torch.full((8,), np.nan, dtype=torch.float64)}, "means that are not finite"),
        ({"network.1.weight": torch.zeros(7, 8)}, r"the weights 1\.weight have shape \(7, 8\); expected \(16, 8\)"),
        ({"network.9.weight": torch.zeros(7, 8)}, r"the weights 9\.weight have shape \(7, 8\); expected None"),
    ],
)
def test_numbers_that_no_training_gives_are_refused(tmp_path: Path, change: dict[str, torch.Tensor], told: str) -> None:
    fitted(threshold="tune").save(tmp_path / "model")
    change_tensors(tmp_path / "model", change)
    with pytest.raises(ModelError, match=f"the model is inconsistent: .*{told}"):
        CHMCNNClassifier.load(tmp_path / "model")


def test_a_model_that_claims_a_huge_network_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    rows = torch.utils.data.TensorDataset(torch.randn(9, 2), torch.ones(9, 15))
    model = CHMCNNClassifier(DATA.hierarchy, epochs=1, widths=(4,), random_state=0, validation=0).fit(rows)
    model.save(tmp_path / "model")
    change_facts(tmp_path / "model", {"shape": [10**8]})
    with pytest.raises(ModelError, match=r"the weights 0\.weight have shape \(4, 2\); expected \(4, 100000000\)"):
        CHMCNNClassifier.load(tmp_path / "model")


def test_names_of_files_in_a_strangers_facts_do_not_lead_elsewhere(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    for digest in ("../../../../etc/passwd", None, 7, "0" * 64):
        change_facts(tmp_path / "model", {"sha256": digest})
        with pytest.raises(ModelError, match=r"model/model\.safetensors: the file does not match model\.json"):
            CHMCNNClassifier.load(tmp_path / "model")


def test_facts_that_are_nested_deeply_are_refused(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    for depth in (400, 900, 100_000):
        (tmp_path / "model" / "model.json").write_text('{"format": ' + "[" * depth + "]" * depth + "}")
        with pytest.raises(ModelError, match=r"model\.json: (not a model|the file is incomplete or was changed: )"):
            CHMCNNClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("change", [{"features": [[]] * 9}, {"features": True}, {"id column": ["x"]}])
def test_names_that_are_not_text_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    fitted().save(tmp_path / "model")
    change_facts(tmp_path / "model", change)
    with pytest.raises(ModelError, match=r"there are columns or categories .*; expected a list of names"):
        CHMCNNClassifier.load(tmp_path / "model")

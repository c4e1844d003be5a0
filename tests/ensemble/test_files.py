"""Model files of ensembles."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from tests.ensemble.members import DATA, NETWORK, fitted
from torch import nn

import chmcnn
from chmcnn import CHMCNNClassifier, ChmcnnError, CoherentEnsemble, ModelError
from chmcnn.baselines import ExtraTrees, KernelRidge, Neighbours
from chmcnn.ensemble import FastEnsemble
from chmcnn.estimator import HierarchicalClassifier

MEMBERS = [
    ("network", NETWORK),
    ("ridge", KernelRidge(preprocess=PCA(4))),
    ("trees", ExtraTrees(n_estimators=5)),
    ("neighbours", Neighbours()),
]


@pytest.fixture(scope="module")
def model() -> CoherentEnsemble:
    """An ensemble, all of whose members have a weight."""
    model = CoherentEnsemble(DATA.hierarchy, members=MEMBERS, weights=[0.1, 0.2, 0.3, 0.4], random_state=0)
    return model.fit(DATA.train.X, DATA.train.Y)


def test_a_loaded_ensemble_is_the_same(model: CoherentEnsemble, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["model.json", "model.safetensors"]
    for loaded in (CoherentEnsemble.load(tmp_path / "model"), chmcnn.load_model(tmp_path / "model")):
        assert isinstance(loaded, CoherentEnsemble)
        assert np.array_equal(loaded.predict_proba(DATA.test.X), model.predict_proba(DATA.test.X))
        assert (loaded.weights_, loaded.validation_scores_) == (model.weights_, model.validation_scores_)
        assert loaded.rarity_.power == model.rarity_.power > 0
        assert str(loaded.explain(DATA.test.X[:1])[0]) == str(model.explain(DATA.test.X[:1])[0])
        for name, thresholds in loaded.tuned_thresholds_.items():
            assert np.array_equal(thresholds, model.tuned_thresholds_[name])


def test_a_loaded_ensemble_can_be_trained_again_with_the_same_members(model: CoherentEnsemble, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = CoherentEnsemble.load(tmp_path / "model").fit(DATA.train.X, DATA.train.Y)
    assert list(again.members_) == list(model.members_)


class Own(CHMCNNClassifier):
    """A system that is not of the package."""


@pytest.mark.parametrize(
    ("member", "told"),
    [
        (CoherentEnsemble(preset="fast"), r"\(CoherentEnsemble\) is of a kind that files of ensembles do not have"),
        (Own(epochs=1), r"\(Own\) is of a kind that files"),
        (CHMCNNClassifier(epochs=1, network=nn.Linear), r"\(CHMCNNClassifier\) has a network of its own"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_ensemble_that_could_not_be_loaded_is_not_saved(
    member: HierarchicalClassifier, told: str, tmp_path: Path
) -> None:
    model = fitted([("mine", member)])
    with pytest.raises(ChmcnnError, match=rf"The member 'mine' {told}.*use joblib\.dump"):
        model.save(tmp_path / "model")
    assert not [*tmp_path.iterdir()]


def test_an_ensemble_is_found_by_its_own_class_only(tmp_path: Path) -> None:
    FastEnsemble(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y).save(tmp_path / "fast")
    assert type(chmcnn.load_model(tmp_path / "fast")) is FastEnsemble
    with pytest.raises(ModelError, match="a model of FastEnsemble, not of CoherentEnsemble"):
        CoherentEnsemble.load(tmp_path / "fast")


def change(folder: Path, monkeypatch: pytest.MonkeyPatch, **facts: Any) -> None:
    """Change facts of the first member, as a hostile file has them: with a digest that is right."""
    path = folder / "model.json"
    content = json.loads(path.read_text())
    content["members"][0] |= facts
    path.write_text(json.dumps(content))
    monkeypatch.setattr("chmcnn.estimator._model_files._digest", lambda facts: facts["digest"])


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"system": "os.system"}, "the member 'network' is a model of os.system, which is not a known system"),
        ({"own network": True}, "the member 'network' has a custom network"),
        ({"settings": {}}, "the model is inconsistent"),
    ],
)
def test_hostile_members_are_refused(
    model: CoherentEnsemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], reason: str
) -> None:
    model.save(tmp_path / "model")
    change(tmp_path / "model", monkeypatch, **facts)
    with pytest.raises(ChmcnnError, match=reason):
        CoherentEnsemble.load(tmp_path / "model")


def test_an_ensemble_without_features_is_refused(
    model: CoherentEnsemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save(tmp_path / "model")
    change(tmp_path / "model", monkeypatch)
    content = json.loads((tmp_path / "model" / "model.json").read_text())
    del content["features"]
    (tmp_path / "model" / "model.json").write_text(json.dumps(content))
    with pytest.raises(ModelError, match="the model is inconsistent: its features are missing"):
        CoherentEnsemble.load(tmp_path / "model")

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from tests import processes
from tests.estimator.models import DATA, QUICK, fitted
from tests.estimator.texts import LABELS, OPTIONS, TABLE, TEXTS
from torch import nn

from chmcnn import CHMCNNClassifier, ChmcnnError, CoherentEnsemble, ModelError, load_model
from chmcnn.baselines import ClusHMC, FPlusMax, KernelRidge, Neighbours
from chmcnn.datasets import Preprocessor
from chmcnn.estimator import HierarchicalClassifier, _model_files


def test_a_saved_model_predicts_the_same(tmp_path: Path) -> None:
    frame = pd.DataFrame(DATA.train.X).rename(columns=str).assign(kind=pd.Categorical(["a", "b", None] * 60))
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK, threshold="tune", class_weight={"c01": 2.0}).fit(
        frame, DATA.train.Y
    )
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["model.json", "model.safetensors"]
    assert np.array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    assert loaded.hierarchy_ == DATA.hierarchy
    assert repr(loaded.history_) == repr(model.history_)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"kind": "sort"}))


def test_a_network_of_the_users_own_must_be_given_again(tmp_path: Path) -> None:
    model = fitted(network=nn.Linear(8, 15))
    model.save(tmp_path / "model")
    with pytest.raises(ModelError, match="pass network="):
        CHMCNNClassifier.load(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model", network=nn.Linear(8, 15))
    assert np.array_equal(loaded.predict(DATA.test.X), model.predict(DATA.test.X))


def test_the_optimizer_is_saved_so_that_partial_fit_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    for _ in range(3):
        model.partial_fit(DATA.train.X, DATA.train.Y)
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model")
    for each in (model, loaded):
        each.partial_fit(DATA.train.X, DATA.train.Y)
    assert np.array_equal(model.predict_proba(DATA.test.X), loaded.predict_proba(DATA.test.X))


def test_partial_fit_goes_on_from_a_model_that_was_loaded(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    model = CHMCNNClassifier.load(tmp_path / "model")
    before = model.predict_proba(DATA.test.X)
    model.partial_fit(DATA.train.X, DATA.train.Y)
    assert not np.array_equal(model.predict_proba(DATA.test.X), before)
    assert np.abs(model.predict_proba(DATA.test.X) - before).max() < 0.3


def test_only_the_class_that_saved_a_model_loads_it(tmp_path: Path) -> None:
    class Other(CHMCNNClassifier):
        pass

    fitted().save(tmp_path / "model")
    with pytest.raises(ModelError, match="a model of CHMCNNClassifier, not of Other"):
        Other.load(tmp_path / "model")
    Other(DATA.hierarchy, **QUICK).fit(DATA.train.X, DATA.train.Y).save(tmp_path / "other")
    with pytest.raises(ModelError, match="a model of Other, which is not a system of this version; load it with its"):
        load_model(tmp_path / "other")


def test_a_model_is_loaded_without_naming_its_system(tmp_path: Path) -> None:
    model = FPlusMax(DATA.hierarchy, **QUICK).fit(DATA.train.X, DATA.train.Y)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model", device="cpu")
    assert type(loaded) is FPlusMax
    assert np.array_equal(loaded.predict_proba(DATA.test.X), model.predict_proba(DATA.test.X))


OTHER_PARAMETERS = [
    (CHMCNNClassifier(DATA.hierarchy, **QUICK), {"widths": [5], "output_rank": 2, "network": nn.Linear(8, 15)}),
    (KernelRidge(DATA.hierarchy, landmarks=20), {"landmarks": 3}),
    (Neighbours(DATA.hierarchy), {}),
    (CoherentEnsemble(DATA.hierarchy, preset="fast"), {"preset": "best", "members": [Neighbours()], "weights": [1.0]}),
]


@pytest.mark.parametrize(("model", "other"), OTHER_PARAMETERS, ids=lambda each: type(each).__name__)
def test_parameters_that_are_set_after_the_training_do_not_change_a_saved_model(
    model: HierarchicalClassifier, other: dict[str, Any], tmp_path: Path
) -> None:
    trained = clone(model).fit(DATA.train.X, DATA.train.Y)
    expected = trained.predict_proba(DATA.test.X)
    trained.set_params(preprocess=False, threshold=0.2, **other)
    for number in (1, 2):  # also a model that was loaded
        trained.save(tmp_path / str(number))
        trained = load_model(tmp_path / str(number))
        assert np.array_equal(trained.predict_proba(DATA.test.X), expected)
        assert trained.threshold == 0.2
    with pytest.raises(ChmcnnError, match="threshold is 7; expected a number from 0 to 1"):
        trained.set_params(threshold=7).save(tmp_path / "3")
    assert not (tmp_path / "3").exists()


def test_parameters_of_a_preprocessor_do_not_change_a_saved_model(tmp_path: Path) -> None:
    model = fitted(preprocess=Preprocessor())
    expected = model.predict_proba(DATA.test.X)
    model.set_params(preprocess__standardise=False).save(tmp_path / "model")
    assert np.array_equal(CHMCNNClassifier.load(tmp_path / "model").predict_proba(DATA.test.X), expected)


def test_a_model_from_a_pickle_of_an_earlier_version_can_be_saved(tmp_path: Path) -> None:
    model = fitted()
    del model.__dict__["fitted_params_"]
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(DATA.test.X), model.predict_proba(DATA.test.X))


def test_a_loaded_model_can_be_trained_on_another_hierarchy(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    again = CHMCNNClassifier.load(tmp_path / "model").set_params(hierarchy=None, epochs=1)
    assert again.fit(np.eye(4), ["a/b", "a/c"] * 2).predict_proba(np.eye(4)).shape == (4, 3)


def test_a_system_without_model_files_says_so_and_leaves_nothing_behind(tmp_path: Path) -> None:
    model = ClusHMC(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    with pytest.raises(ChmcnnError, match=r"ClusHMC has no model files; use joblib\.dump"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ModelError, match="network= was passed, but ClusHMC has no network; leave it out"):
        ClusHMC.load(tmp_path / "model", network=nn.Linear(8, 15))


def predict(model: Path, table: Path, scores: Path) -> None:
    np.save(scores, CHMCNNClassifier.load(model).predict_proba(pd.read_pickle(table)))  # noqa: S301 -- our own file


@pytest.mark.parametrize("preprocess", [True, TfidfVectorizer()])
def test_a_model_of_texts_is_one_folder_and_predicts_the_same_in_another_process(
    preprocess: Any, tmp_path: Path
) -> None:
    X = TABLE if preprocess is True else TABLE["title"]
    model = CHMCNNClassifier(**OPTIONS, preprocess=preprocess).fit(X, LABELS)
    scores = model.predict_proba(X)
    assert len(model.hierarchy_.violations(scores)) == 0
    model.save(tmp_path / "model")
    X.to_pickle(tmp_path / "table.pickle")
    paths = [tmp_path / name for name in ("model", "table.pickle", "scores.npy")]
    process = processes.start(predict, *paths)
    process.join(300)
    assert process.exitcode == 0
    assert np.array_equal(np.load(tmp_path / "scores.npy"), scores)


def test_a_model_remembers_names_and_kinds(tmp_path: Path) -> None:
    model = CHMCNNClassifier(**OPTIONS).fit(TABLE, LABELS)
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model")
    assert loaded.id_column_ == model.id_column_ == "sku"
    assert loaded.preprocessor_.list_kinds() == model.preprocessor_.list_kinds()
    assert loaded.score(TABLE, LABELS) == model.score(TABLE, LABELS)  # labels with spaces around the separator
    assert loaded.get_params()["path_separator"] == ">"
    assert CHMCNNClassifier(**OPTIONS).fit(TEXTS, LABELS).id_column_ is None


def test_a_folder_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame(DATA.train.X).rename(columns=str).assign(kind=pd.Categorical(["a", "b", None] * 60))
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(frame, DATA.train.Y)
    model.save(tmp_path / "model")
    facts = json.loads((tmp_path / "model" / "model.json").read_text())
    for name in ("kinds", "id column", "path separator", "digest"):
        del facts[name]
    facts["digest"] = _model_files._digest(facts)
    (tmp_path / "model" / "model.json").write_text(json.dumps(facts))
    assert np.array_equal(CHMCNNClassifier.load(tmp_path / "model").predict_proba(frame), model.predict_proba(frame))

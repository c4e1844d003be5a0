import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
import torch
from safetensors.torch import load_file, save_file
from sklearn.feature_extraction.text import TfidfVectorizer
from tests import processes
from tests.estimator.models import DATA, QUICK, fitted
from tests.estimator.texts import LABELS, TABLE, TEXTS
from torch import nn

from chmcnn import CHMCNNClassifier, ChmcnnError, Hierarchy, ModelError, load_model
from chmcnn.baselines import ClusHMC, FPlusMax
from chmcnn.estimator import _model_files
from chmcnn.estimator._model_folder import read_file


@pytest.fixture(scope="module")
def model() -> CHMCNNClassifier:
    return CHMCNNClassifier(epochs=1, widths=(4,), random_state=0).fit([[0.0], [1.0]] * 5, ["a/b", "a/c"] * 5)


def test_further_files_are_there_before_the_folder_gets_its_name(
    model: CHMCNNClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def kill(folder: Path, _: Path) -> None:
        seen.extend(sorted(path.name for path in folder.iterdir()))
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", kill)
    with pytest.raises(KeyboardInterrupt):
        _model_files.save_model(model, tmp_path / "model", force=False, extra_files={"report.html": b"<html>"})
    assert seen == ["model.json", "model.safetensors", "report.html"]
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    _model_files.save_model(model, tmp_path / "model", force=False, extra_files={"report.html": b"<html>"})
    assert (tmp_path / "model" / "report.html").read_bytes() == b"<html>"
    CHMCNNClassifier.load(tmp_path / "model")


def test_an_onnx_file_is_not_written_over_unless_asked_for(model: CHMCNNClassifier, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_text("mine")
    with pytest.raises(ValueError, match="already exists; choose another file, or use force=True to overwrite it"):
        model.to_onnx(file)
    assert file.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


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


def test_writing_over_a_model_must_be_asked_for(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "model")
    with pytest.raises(ModelError, match="already exists"):
        model.save(tmp_path / "model")
    model.save(tmp_path / "model", force=True)
    (tmp_path / "mine").mkdir()
    with pytest.raises(ModelError, match="not a model folder, so it is not overwritten"):
        model.save(tmp_path / "mine", force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match=": cannot be written"):
        model.save(tmp_path / "file" / "model")


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
    assert "the model has version 2, but chmcnn" in refused(lambda folder: facts(folder, version=2))
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

    def signed(folder: Path, **changes: object) -> None:
        facts(folder, **changes)
        content = json.loads((folder / "model.json").read_text())
        (folder / "model.json").write_text(json.dumps(content | {"digest": _model_files._digest(content)}))

    for change in ({"features": 3}, {"features": [1]}, {"categories": "x"}, {"settings": settings | {"widths": [17]}}):
        assert "the model is inconsistent" in refused(lambda folder, change=change: signed(folder, **change))


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


def test_a_system_without_model_files_says_so_and_leaves_nothing_behind(tmp_path: Path) -> None:
    model = ClusHMC(DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    with pytest.raises(ChmcnnError, match=r"ClusHMC has no model files; use joblib\.dump"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ModelError, match="network= was passed, but ClusHMC has no network; leave it out"):
        ClusHMC.load(tmp_path / "model", network=nn.Linear(8, 15))


TEXT_OPTIONS: dict[str, Any] = {"path_separator": ">", "epochs": 3, "widths": (8,), "random_state": 0}


def predict(model: Path, table: Path, scores: Path) -> None:
    np.save(scores, CHMCNNClassifier.load(model).predict_proba(pd.read_pickle(table)))  # noqa: S301 -- our own file


@pytest.mark.parametrize("preprocess", [True, TfidfVectorizer()])
def test_a_model_of_texts_is_one_folder_and_predicts_the_same_in_another_process(
    preprocess: Any, tmp_path: Path
) -> None:
    X = TABLE if preprocess is True else TABLE["title"]
    model = CHMCNNClassifier(**TEXT_OPTIONS, preprocess=preprocess).fit(X, LABELS)
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
    model = CHMCNNClassifier(**TEXT_OPTIONS).fit(TABLE, LABELS)
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model")
    assert loaded.id_column_ == model.id_column_ == "sku"
    assert loaded.preprocessor_.list_kinds() == model.preprocessor_.list_kinds()
    assert loaded.score(TABLE, LABELS) == model.score(TABLE, LABELS)  # labels with spaces around the separator
    assert loaded.get_params()["path_separator"] == ">"
    assert CHMCNNClassifier(**TEXT_OPTIONS).fit(TEXTS, LABELS).id_column_ is None


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


def test_changed_transformers_are_refused(tmp_path: Path) -> None:
    CHMCNNClassifier(**TEXT_OPTIONS, preprocess=TfidfVectorizer()).fit(TEXTS, LABELS).save(tmp_path / "model")
    file, facts = tmp_path / "model" / "preprocessing.skops", tmp_path / "model" / "model.json"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with pytest.raises(ModelError, match=r"preprocessing\.skops: the file does not match model\.json"):
        CHMCNNClassifier.load(tmp_path / "model")
    hostile = skops.io.dumps(TfidfVectorizer(tokenizer=print))
    content = json.loads(facts.read_text()) | {"sha256 of the transformer": hashlib.sha256(hostile).hexdigest()}
    facts.write_text(json.dumps(content | {"digest": _model_files._digest(content)}))
    file.write_bytes(hostile)
    with pytest.raises(ModelError, match=r"preprocessing\.skops: it has builtins\.print \(TypeNode\), which is"):
        CHMCNNClassifier.load(tmp_path / "model")
    file.unlink()
    with pytest.raises(ModelError, match=r"preprocessing\.skops: the file cannot be read: No such file"):
        CHMCNNClassifier.load(tmp_path / "model")


def change_tensors(folder: Path, **changed: torch.Tensor) -> None:
    """Replace tensors of a model, with the right checksums."""
    file, facts = folder / "model.safetensors", folder / "model.json"
    save_file(load_file(file) | changed, file)
    content = json.loads(facts.read_text()) | {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    facts.write_text(json.dumps(content | {"digest": _model_files._digest(content)}))


def test_changed_words_are_refused(tmp_path: Path) -> None:
    CHMCNNClassifier(**TEXT_OPTIONS).fit(TEXTS, LABELS).save(tmp_path / "model")
    tensors = load_file(tmp_path / "model" / "model.safetensors")
    for change in (
        {"text.0.terms": torch.tensor(list(b"{}"), dtype=torch.uint8)},
        {"text.0.terms": torch.tensor(list(b"not JSON"), dtype=torch.uint8)},
        {"text.0.terms": tensors["text.0.terms"], "text.0.idf": tensors["text.0.idf"][:-1].clone()},
    ):
        change_tensors(tmp_path / "model", **change)
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
        change_tensors(tmp_path / "model", learned=mask)
        with pytest.raises(ModelError, match=r"the model is inconsistent: .*learned"):
            CHMCNNClassifier.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"thresholds.tune": torch.full((15,), np.nan)}, "thresholds tune have shape .* expected 15 finite numbers"),
        ({"scales": torch.full((8,), np.inf, dtype=torch.float64)}, "scales that are not above 0"),
        ({"scales": torch.zeros(8, dtype=torch.float64)}, "scales that are not above 0"),
        ({"means": torch.full((8,), np.nan, dtype=torch.float64)}, "means that are not finite"),
        ({"network.0.weight": torch.zeros(7, 8)}, r"the weights 0\.weight have shape \(7, 8\); expected \(16, 8\)"),
        ({"network.9.weight": torch.zeros(7, 8)}, r"the weights 9\.weight have shape \(7, 8\); expected None"),
    ],
)
def test_numbers_that_no_training_gives_are_refused(tmp_path: Path, change: dict[str, torch.Tensor], told: str) -> None:
    fitted(threshold="tune").save(tmp_path / "model")
    change_tensors(tmp_path / "model", **change)
    with pytest.raises(ModelError, match=f"the model is inconsistent: .*{told}"):
        CHMCNNClassifier.load(tmp_path / "model")


def test_a_model_that_claims_a_huge_network_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    rows = torch.utils.data.TensorDataset(torch.randn(9, 2), torch.ones(9, 15))
    model = CHMCNNClassifier(DATA.hierarchy, epochs=1, widths=(4,), random_state=0, validation=0).fit(rows)
    model.save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    content = json.loads(file.read_text()) | {"shape": [10**8]}
    file.write_text(json.dumps(content | {"digest": _model_files._digest(content)}))
    with pytest.raises(ModelError, match=r"the weights 0\.weight have shape \(4, 2\); expected \(4, 100000000\)"):
        CHMCNNClassifier.load(tmp_path / "model")


def test_a_network_that_does_not_fit_into_memory_is_told_before_the_training() -> None:
    with pytest.raises(
        ChmcnnError, match=r"The weights of the network need 3,725,290,\d+ GiB, and as much again while"
    ):
        fitted(widths=(10**9, 10**9))


def test_a_device_without_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChmcnnError, match="device is 'meta', which is not available"):
        fitted(device="meta")
    fitted().save(tmp_path / "model")
    with pytest.raises(ChmcnnError, match=r"^device is 'meta', which is not available"):
        CHMCNNClassifier.load(tmp_path / "model", device="meta")


def test_a_model_is_written_over_its_own_files_only(tmp_path: Path) -> None:
    old, new = fitted(), fitted(random_state=1)
    old.save(tmp_path / "far")
    (tmp_path / "far" / "notes.txt").write_text("mine")
    (tmp_path / "model").symlink_to(tmp_path / "far")
    for model in (new, old, new):
        model.save(tmp_path / "model", force=True)
        assert (tmp_path / "model").is_symlink()
        assert CHMCNNClassifier.load(tmp_path / "model").seed_ == model.seed_
        names = sorted(path.name for path in (tmp_path / "far").iterdir())
        assert len(names) == 3
        assert names[1:] == ["model.json", "notes.txt"]
        assert re.fullmatch(r"model-[0-9a-f]{12}\.safetensors", names[0])
    assert (tmp_path / "far" / "notes.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["far", "model"]


def test_old_files_of_a_killed_save_are_deleted(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    for name in ("model-0123456789ab.safetensors", "preprocessing-0123456789ab.skops", "model-mine.safetensors"):
        (tmp_path / "model" / name).touch()
        os.utime(tmp_path / "model" / name, (0, 0))
    fitted(random_state=1).save(tmp_path / "model", force=True)
    names = sorted(path.name for path in (tmp_path / "model").iterdir())
    assert names[1:] == ["model-mine.safetensors", "model.json"]
    assert CHMCNNClassifier.load(tmp_path / "model").seed_ == 1


def test_a_model_that_is_replaced_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted().save(tmp_path / "model")
    new = fitted(random_state=1)

    def replace_first(path: Path, name: str, facts: dict[str, Any]) -> bytes:
        monkeypatch.undo()
        new.save(path, force=True)
        return read_file(path, name, facts)

    monkeypatch.setattr(_model_files, "read_file", replace_first)
    assert CHMCNNClassifier.load(tmp_path / "model").seed_ == 1


def test_names_of_files_in_a_strangers_facts_do_not_lead_elsewhere(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    for digest in ("../../../../etc/passwd", None, 7, "0" * 64):
        content = json.loads(file.read_text()) | {"sha256": digest}
        file.write_text(json.dumps(content | {"digest": _model_files._digest(content)}))
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
    file = tmp_path / "model" / "model.json"
    content = json.loads(file.read_text()) | change
    file.write_text(json.dumps(content | {"digest": _model_files._digest(content)}))
    with pytest.raises(ModelError, match=r"there are columns or categories .*; expected a list of names"):
        CHMCNNClassifier.load(tmp_path / "model")

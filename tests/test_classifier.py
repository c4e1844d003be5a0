import json
import shutil
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

from chmcnn import (
    CHMCNNClassifier,
    ChmcnnError,
    Hierarchy,
    HierarchyError,
    LabelError,
    ModelError,
    metrics,
)
from chmcnn.datasets.synthetic import learnable
from chmcnn.estimator import _model_files
from chmcnn.training import Epoch

DATA = learnable(rows=300, features=8, classes=15, depth=3, noise=0.3)
QUICK: dict[str, Any] = {"epochs": 4, "widths": (16,), "random_state": 0}
NOT_FOR_A_HIERARCHY = {
    "check_classifiers_train": "predicts a matrix of 0 and 1 for all classes, not one class a row",
    "check_classifiers_classes": "classes_ are the names in the hierarchy, which are strings, not the numbers given",
    "check_classifiers_one_label": "predicts a matrix, not one class a row",
    "check_estimator_sparse_array": "predicts a matrix, not one class a row",
    "check_estimator_sparse_matrix": "predicts a matrix, not one class a row",
    "check_classifiers_regression_target": "whole numbers in a regression target are names of classes",
    "check_supervised_y_2d": "a column of numbers is a 0/1 matrix of one class, and 2 is no label",
    "check_classifier_not_supporting_multiclass": "any number of classes is supported",
    "check_classifiers_multilabel_representation_invariance": "a 0/1 matrix has no names; it needs a hierarchy",
    "check_classifiers_multilabel_output_format_predict": "a 0/1 matrix has no names; it needs a hierarchy",
    "check_classifiers_multilabel_output_format_predict_proba": "a 0/1 matrix has no names; it needs a hierarchy",
    "check_classifier_multioutput": "a 0/1 matrix has no names; it needs a hierarchy",
    "check_class_weight_classifiers": "weights are given by name of the class",
    "check_classifiers_multilabel_output_format_decision_function": "there is none",
}


def fitted(**options: Any) -> CHMCNNClassifier:
    return CHMCNNClassifier(DATA.hierarchy, **{**QUICK, **options}).fit(DATA.train.X, DATA.train.Y)


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [CHMCNNClassifier(epochs=2, widths=(8,), random_state=0)], expected_failed_checks=lambda _: NOT_FOR_A_HIERARCHY
)
def test_it_is_a_scikit_learn_estimator(estimator: CHMCNNClassifier, check: Any) -> None:
    if "sample_order" in str(check):
        pytest.skip("sums of single precision may differ in their last bit by the order of the rows")
    check(estimator)


def test_labels_of_any_form_give_the_same_model() -> None:
    sets = DATA.hierarchy.decode(DATA.train.Y, most_specific=True)
    expected = fitted().predict_proba(DATA.test.X)
    for labels in (sets, DATA.train.Y.astype(float), DATA.train.Y.tolist(), sparse.csr_array(DATA.train.Y)):
        found = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(DATA.train.X, labels).predict_proba(DATA.test.X)
        assert np.array_equal(found, expected)


def test_features_of_any_form_are_taken() -> None:
    frame = pd.DataFrame(DATA.train.X).rename(columns=str).assign(kind=pd.Categorical(["a", "b", None] * 60))
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(frame, DATA.train.Y)
    assert model.predict(frame).shape == (180, 15)
    assert model.feature_names_in_[-1] == "kind"
    thin = sparse.csr_array(np.where(DATA.train.X > 1, DATA.train.X, 0))
    assert CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(thin, DATA.train.Y).predict_proba(thin).shape == (180, 15)


def test_label_paths_make_the_hierarchy() -> None:
    model = CHMCNNClassifier(**QUICK).fit(np.eye(6), [{"a/b"}, {"a/c"}, {"d"}] * 2)
    assert model.hierarchy_.classes == ("a", "a/b", "a/c", "d")
    assert all(isinstance(labels, set) for labels in model.predict_labels(np.eye(6)))


def test_a_class_that_training_labels_do_not_have_is_told_with_a_way_out() -> None:
    model = CHMCNNClassifier(**QUICK).fit(np.eye(6), [{"a/b"}, {"a/c"}, {"d"}] * 2)
    with pytest.raises(LabelError, match=r"'a/x'.* pass hierarchy= with all classes"):
        model.score(np.eye(6), [{"a/x"}, {"a/c"}, {"d"}] * 2)


def test_the_seed_decides() -> None:
    first, again, other = fitted(), fitted(), fitted(random_state=1)
    assert np.array_equal(first.predict_proba(DATA.test.X), again.predict_proba(DATA.test.X))
    assert not np.array_equal(first.predict_proba(DATA.test.X), other.predict_proba(DATA.test.X))


def test_it_learns_and_scores() -> None:
    model = fitted(epochs=60, widths=(64,))
    assert model.score(DATA.test.X, DATA.test.Y) > 0.75
    assert model.score(DATA.test.X, DATA.hierarchy.decode(DATA.test.Y)) == model.score(DATA.test.X, DATA.test.Y)
    assert model.best_score_ > 0.7
    assert model.history_[-1].phase == "refit"


def test_many_rows_get_less_dropout_unless_it_is_given(tmp_path: Path) -> None:
    X, Y = np.tile(DATA.train.X, (40, 1)), np.tile(DATA.train.Y, (40, 1))
    quick: dict[str, Any] = {"epochs": 1, "widths": (4,), "validation": 0, "random_state": 0}
    long, short, given = (
        CHMCNNClassifier(DATA.hierarchy, **quick, dropout=dropout).fit(X[:rows], Y[:rows])
        for rows, dropout in ((5001, None), (5000, None), (5001, 0.6))
    )
    assert [model.architecture()["dropout"] for model in (long, short, given)] == [0.5, 0.7, 0.6]
    long.save(tmp_path / "model")
    assert CHMCNNClassifier.load(tmp_path / "model").architecture()["dropout"] == 0.5


def test_validation_data_of_the_users_own() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))
    assert 1 <= model.best_epoch_ <= 4
    with pytest.raises(ChmcnnError, match="No validation row has any of the classes that count"):
        model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y & False))
    with pytest.raises(LabelError, match="X has 2 rows, but y has labels of 60"):
        model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X[:2], DATA.valid.Y))


def test_tuned_thresholds_are_coherent_and_better_on_what_they_were_tuned_on() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK, threshold="tune", refit=False)
    model.fit(DATA.train.X, DATA.train.Y, validation_data=(DATA.valid.X, DATA.valid.Y))
    parent, child = DATA.hierarchy.edges.T
    assert (model.thresholds_[parent] <= model.thresholds_[child]).all()
    assert len(DATA.hierarchy.violations(model.predict(DATA.test.X))) == 0
    assert model.predict(DATA.valid.X).sum() > 0
    with pytest.raises(ChmcnnError, match="threshold='tune' needs validation rows"):
        fitted(threshold="tune", validation=0)


def test_partial_fit_goes_on() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    for _ in range(40):
        for half in (slice(0, 90), slice(90, 180)):
            model.partial_fit(DATA.train.X[half], DATA.train.Y[half])
    losses = [epoch.loss for epoch in model.history_]
    assert len(losses) == 80
    assert losses[-1] < 0.7 * losses[0]
    with pytest.raises(ChmcnnError, match="partial_fit needs hierarchy= or classes="):
        CHMCNNClassifier().partial_fit(np.eye(2), [{"a"}, {"b"}])


def test_partial_fit_goes_on_from_a_model_that_was_loaded(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    model = CHMCNNClassifier.load(tmp_path / "model")
    before = model.predict_proba(DATA.test.X)
    model.partial_fit(DATA.train.X, DATA.train.Y)
    assert not np.array_equal(model.predict_proba(DATA.test.X), before)
    assert np.abs(model.predict_proba(DATA.test.X) - before).max() < 0.3


def test_networks_of_the_users_own() -> None:
    module = nn.Linear(8, 15)
    before = module.weight.detach().clone()
    model = fitted(network=module)
    assert torch.equal(module.weight, before)  # it is copied
    assert model.predict(DATA.test.X).shape == (60, 15)
    assert fitted(network=nn.Linear).predict(DATA.test.X).shape == (60, 15)


def test_a_frame_of_labels_is_taken_by_name() -> None:
    frame = pd.DataFrame(DATA.train.Y, columns=DATA.hierarchy.classes)
    first = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(DATA.train.X, frame)
    turned = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(DATA.train.X, frame[frame.columns[::-1]])
    assert np.array_equal(first.predict_proba(DATA.test.X), turned.predict_proba(DATA.test.X))
    assert first.score(DATA.train.X, frame[frame.columns[::-1]]) == first.score(DATA.train.X, DATA.train.Y)
    with pytest.raises(ChmcnnError, match="The labels have no column"):
        first.fit(DATA.train.X, frame.iloc[:, 1:])


def test_a_training_that_fails_leaves_the_model_as_it_was() -> None:
    model = fitted()
    before = model.predict_proba(DATA.test.X)
    with pytest.raises(LabelError):
        model.fit(DATA.train.X * 100 + 5, DATA.train.Y[:-1])
    assert np.array_equal(model.predict_proba(DATA.test.X), before)


def test_thresholds_are_tuned_with_a_network_that_has_not_seen_the_rows() -> None:
    data = learnable(rows=600, features=10, classes=30, depth=4, noise=1.0)
    options: dict[str, Any] = {"widths": (64,), "random_state": 0, "epochs": 30}
    tuned = CHMCNNClassifier(data.hierarchy, **options, threshold="tune")
    kept = CHMCNNClassifier(data.hierarchy, **options, threshold="tune", refit=False)
    for model in (tuned, kept):
        model.fit(data.train.X, data.train.Y, validation_data=(data.valid.X, data.valid.Y))
    assert np.array_equal(tuned.thresholds_, kept.thresholds_)


def test_validation_rows_do_not_shape_the_features() -> None:
    x = DATA.train.X.copy()
    first = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(x, DATA.train.Y)
    held = np.random.default_rng(0).permutation(len(x))[: round(0.2 * len(x))]
    x[held] += 100
    again = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(x, DATA.train.Y)
    assert np.array_equal(first.preprocessor_.means_, again.preprocessor_.means_)


def test_class_weights() -> None:
    plain = fitted().predict_proba(DATA.test.X)
    balanced = fitted(class_weight="balanced").predict_proba(DATA.test.X)
    named = fitted(class_weight={DATA.hierarchy.classes[3]: 5.0}).predict_proba(DATA.test.X)
    assert not np.array_equal(plain, balanced)
    assert not np.array_equal(plain, named)
    with pytest.raises(HierarchyError, match="Unknown class 'x'"):
        fitted(class_weight={"x": 1.0})
    with pytest.raises(ChmcnnError, match="class_weight is 'even'"):
        fitted(class_weight="even")


def test_it_works_with_scikit_learns_tools(tmp_path: Path) -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    assert clone(model).get_params()["hierarchy"] is DATA.hierarchy
    piped = make_pipeline(StandardScaler(), model)
    assert len(cross_val_score(piped, DATA.train.X, DATA.train.Y, cv=3)) == 3
    search = GridSearchCV(model, {"dropout": [0.1, 0.5]}, cv=2).fit(DATA.train.X, DATA.train.Y)
    assert search.best_params_["dropout"] in (0.1, 0.5)
    joblib.dump(fitted(), tmp_path / "model.joblib")
    assert joblib.load(tmp_path / "model.joblib").predict(DATA.test.X).shape == (60, 15)


def test_explanations_name_the_delegate() -> None:
    model = fitted(epochs=60)
    rows = model.explain(DATA.test.X[:5])
    scores, predicted = model.predict_proba(DATA.test.X[:5]), model.predict(DATA.test.X[:5])
    for at, row in enumerate(rows):
        assert len(row) == predicted[at].sum()
        for reason in row.reasons:
            place = DATA.hierarchy.index(reason.name)
            assert reason.score == scores[at, place]
            assert reason.delegate == reason.name or reason.delegate in DATA.hierarchy.descendants(reason.name)
            assert scores[at, DATA.hierarchy.index(reason.delegate)] == reason.score
    assert str(rows[0]).splitlines()[0].startswith("c00")
    assert str(model.set_params(threshold=1.0).fit(DATA.train.X, DATA.train.Y).explain(DATA.test.X[:1])[0]) == (
        "no class reaches its threshold"
    )


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


@pytest.mark.parametrize("preprocess", [True, False])
def test_onnx_gives_the_same_coherent_probabilities(tmp_path: Path, preprocess: bool) -> None:
    import onnxruntime

    model = fitted(preprocess=preprocess)
    model.to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    x = DATA.test.X.astype(np.float32)
    x[0, 0] = np.nan
    (found,) = session.run(None, {"features": x})
    np.testing.assert_allclose(found, model.predict_proba(x), atol=1e-5)
    assert len(DATA.hierarchy.violations(found)) == 0
    assert model.predict(DATA.test.X).shape == (60, 15)


def test_a_killed_training_goes_on(tmp_path: Path) -> None:
    expected = fitted().predict_proba(DATA.test.X)
    assert np.array_equal(fitted(checkpoint=tmp_path).predict_proba(DATA.test.X), expected)
    assert np.array_equal(fitted(checkpoint=tmp_path).predict_proba(DATA.test.X), expected)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"preset": "fast"}, "preset is 'fast'; expected 'default' or 'paper'"),
        ({"threshold": 1.5}, "threshold is 1.5; expected 'tune', or a number from 0 to 1"),
        ({"validation": 1.0}, "validation is 1.0; expected a number from 0 to below 1"),
        ({"evaluated": [True]}, r"evaluated has shape \(1,\) and type bool; expected a mask of the 15 classes"),
        ({"random_state": -1}, "random_state is -1; expected a number from 0"),
        ({"class_weight": np.ones(15)}, "class_weight is"),
        ({"device": "moon"}, "device is 'moon', which is not available"),
    ],
)
def test_bad_options_are_told(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ChmcnnError, match=told):
        fitted(**options)


def test_bad_data_are_told() -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    with pytest.raises(LabelError, match="X has 180 rows, but y has labels of 3"):
        model.fit(DATA.train.X, DATA.train.Y[:3])
    with pytest.raises(LabelError, match="Row 0: Unknown class 'x'"):
        model.fit(np.eye(2), [{"x"}, {"c01"}])
    with pytest.raises(LabelError, match="No row has any of the classes that count"):
        model.fit(np.eye(2), [set(), set()])
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.array([[np.inf], [1.0]]), [{"c01"}, {"c01"}])
    with pytest.raises(LabelError, match="The labels are a 0/1 matrix without class names: pass hierarchy="):
        CHMCNNClassifier().fit(np.eye(2), np.eye(2))
    with pytest.raises(LabelError, match=r"Row 0 has the label 1\.5"):
        CHMCNNClassifier().fit(np.eye(2), [1.5, 2.5])
    fit = fitted()
    with pytest.raises(ValueError, match="X has 3 features, but Preprocessor is expecting 8"):
        fit.predict(np.zeros((1, 3)))


def test_one_row_rows_alike_and_classes_without_rows_are_no_trouble() -> None:
    one = CHMCNNClassifier(DATA.hierarchy, **QUICK).fit(DATA.train.X[:1], DATA.train.Y[:1])
    assert one.predict(DATA.test.X).shape == (60, 15)
    alike = CHMCNNClassifier(DATA.hierarchy, **QUICK, threshold="tune").fit(np.ones((10, 3)), [{"c01"}] * 10)
    assert len(DATA.hierarchy.violations(alike.predict_proba(np.ones((2, 3))))) == 0
    tree = Hierarchy.from_paths(["a/b", "a/never"])
    assert CHMCNNClassifier(tree, **QUICK).fit(np.eye(4), [{"a/b"}] * 4).predict(np.eye(4)).shape == (4, 3)


class Pictures(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Rows of another shape than a table's, with labels that lack their ancestors."""

    def __init__(self, rows: slice) -> None:
        self.x = torch.tensor(DATA.train.X[rows], dtype=torch.float64).reshape(-1, 2, 4)
        sets = DATA.hierarchy.decode(DATA.train.Y[rows], most_specific=True)
        self.y = torch.tensor([[name in labels for name in DATA.hierarchy] for labels in sets])

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, at: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.x[at], self.y[at].long()


class Only(torch.utils.data.Dataset[torch.Tensor]):
    """Features without labels."""

    def __init__(self, data: Pictures) -> None:
        self.x = data.x

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, at: int) -> torch.Tensor:
        return self.x[at]


def flat(features: int, classes: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(features, classes))


def test_datasets_and_loaders_are_taken(tmp_path: Path) -> None:
    model = CHMCNNClassifier(DATA.hierarchy, network=flat, epochs=30, random_state=0)
    model.fit(Pictures(slice(0, 150)))
    assert {epoch.phase for epoch in model.history_} == {"train"}
    assert model.best_score_ > 0.5
    held = Pictures(slice(150, 180))
    scores = model.predict_proba(held)
    assert np.array_equal(scores, model.predict_proba(held.x.numpy()))
    assert np.array_equal(scores, model.predict_proba(Only(held)))
    assert metrics.auprc(DATA.train.Y[150:], scores) > 0.5
    assert len(DATA.hierarchy.violations(scores)) == 0
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model", network=flat)
    assert np.array_equal(loaded.predict_proba(held), scores)
    loader = torch.utils.data.DataLoader(Pictures(slice(0, 150)), 16, shuffle=True)
    again = CHMCNNClassifier(DATA.hierarchy, network=flat, epochs=3, random_state=0, threshold="tune")
    again.fit(loader, validation_data=(held.x.numpy(), DATA.train.Y[150:]))
    assert len(DATA.hierarchy.violations(again.predict(loader))) == 0
    assert again.fit(loader, validation_data=held).best_epoch_ >= 1


def test_streams_that_cannot_be_trained_on_are_refused() -> None:
    data = Pictures(slice(0, 20))
    model = CHMCNNClassifier(DATA.hierarchy, network=flat, random_state=0)
    with pytest.raises(ChmcnnError, match="which has the labels itself"):
        model.fit(data, DATA.train.Y[:20])
    with pytest.raises(ChmcnnError, match="pass hierarchy="):
        CHMCNNClassifier().fit(data)
    with pytest.raises(ChmcnnError, match="no rows to validate on"):
        model.fit(torch.utils.data.DataLoader(data))
    with pytest.raises(ChmcnnError, match=r"expected a pair \(features, labels\)"):
        model.fit(torch.utils.data.DataLoader(Only(data)), validation_data=data)
    with pytest.raises(LabelError, match=r"Labels of batch 0 have shape \(4, 2\); expected 0 and 1 of shape"):
        model.fit(torch.utils.data.TensorDataset(torch.zeros(20, 3), torch.zeros(20, 2)), validation_data=None)
    with pytest.raises(LabelError, match=r"Labels of batch 0 have the value 2\.0; expected 0 and 1"):
        model.fit(torch.utils.data.TensorDataset(torch.zeros(20, 3), torch.full((20, 15), 2.0)))
    with pytest.raises(ChmcnnError, match="The Dataset is empty"):
        model.fit(Pictures(slice(0, 0)))
    with pytest.raises(ChmcnnError, match=r"A row of the data has shape \(2, 4\), but the default network"):
        CHMCNNClassifier(DATA.hierarchy).fit(data)
    with pytest.raises(ChmcnnError, match="validation_data is of type Pictures; expected a pair"):
        fitted().fit(DATA.train.X, DATA.train.Y, validation_data=data)
    with pytest.raises(ChmcnnError, match="partial_fit takes tables only"):
        CHMCNNClassifier(DATA.hierarchy, network=flat, epochs=1).fit(data).partial_fit(DATA.train.X, DATA.train.Y)
    with pytest.raises(ChmcnnError, match="needs labels in memory"):
        CHMCNNClassifier(DATA.hierarchy, network=flat, class_weight="balanced").fit(data)
    with pytest.raises(ChmcnnError, match="was trained on a table"):
        fitted().predict(data)
    model = CHMCNNClassifier(DATA.hierarchy, network=flat, epochs=1).fit(data)
    with pytest.raises(ChmcnnError, match=r"A row of X has shape \(8,\); expected \(2, 4\)"):
        model.predict(DATA.test.X)


def test_the_optimizer_is_saved_so_that_partial_fit_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    model = CHMCNNClassifier(DATA.hierarchy, **QUICK)
    for _ in range(3):
        model.partial_fit(DATA.train.X, DATA.train.Y)
    model.save(tmp_path / "model")
    loaded = CHMCNNClassifier.load(tmp_path / "model")
    for each in (model, loaded):
        each.partial_fit(DATA.train.X, DATA.train.Y)
    assert np.array_equal(model.predict_proba(DATA.test.X), loaded.predict_proba(DATA.test.X))


def test_only_the_class_that_saved_a_model_loads_it(tmp_path: Path) -> None:
    class Other(CHMCNNClassifier):
        pass

    fitted().save(tmp_path / "model")
    with pytest.raises(ModelError, match="a model of CHMCNNClassifier, not of Other"):
        Other.load(tmp_path / "model")


def test_a_function_is_called_with_each_epoch_and_may_end_the_training() -> None:
    seen: list[int] = []

    def watch(epoch: Epoch) -> None:
        seen.append(epoch.number)
        if epoch.number == 2:
            raise StopIteration

    model = CHMCNNClassifier(DATA.hierarchy, **QUICK | {"epochs": 5}, verbose=watch)
    with pytest.raises(StopIteration):
        model.fit(DATA.train.X, DATA.train.Y)
    assert seen == [1, 2]
    assert not hasattr(model, "network_")

"""Every setting is checked alike by training.Settings, by fit and by --config."""

import dataclasses
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chmcnn import CHMCNNClassifier, ChmcnnError
from chmcnn.baselines import LMLP, Logistic
from chmcnn.cli._settings import TrainingOptions
from chmcnn.settings import SETTINGS
from chmcnn.training import Settings

WRONG: dict[str, list[Any]] = {
    "preset": ["slow", 1],
    "epochs": [0, 1.5, "a", True],
    "batch_size": [0, 2.5],
    "learning_rate": [0.0, "a", float("nan")],
    "weight_decay": [-1, float("inf")],
    "schedule": ["step", 1],
    "averaging": [-1, float("inf")],
    "sharded": [1, "yes"],
    "precision": ["float16", 1],
    "preprocess": [1, "yes"],
    "patience": [-1, 1.5],
    "patience_growth": [-0.1, "a"],
    "max_minutes": [0, -1, "10", float("inf")],
    "validation": [1.0, -0.1, "a"],
    "validation_sample": [0, 0.5],
    "refit": [1, "no"],
    "threshold": [1.5, "best"],
    "calibration": ["platt", 1],
    "class_weight": ["even", {"a": -1}],
    "widths": [500, [0], [1.5]],
    "dropout": [1, -0.1],
    "output_rank": [0, 1.5],
}
CASES = [(name, value) for name, values in WRONG.items() for value in values]
X, Y = np.eye(6), [{"a"}, {"a/b"}, {"c"}] * 2


def test_every_setting_has_a_case() -> None:
    assert set(WRONG) == set(SETTINGS)


@pytest.mark.parametrize(("name", "value"), CASES)
def test_a_wrong_value_is_refused_everywhere_with_the_same_message(tmp_path: Path, name: str, value: Any) -> None:
    expected = f"{name} is {value!r}; expected {SETTINGS[name].domain.expected}."
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({name: value}))
    messages = []
    with pytest.raises(ChmcnnError) as caught:
        TrainingOptions(config=file).settings()
    messages.append(str(caught.value).removeprefix(f"{file}: "))
    with pytest.raises(ChmcnnError) as caught:
        CHMCNNClassifier(**{name: value}).fit(X, Y)
    in_python = str(caught.value)
    if name == "preprocess":  # which takes more in Python than in a file
        in_python = in_python.replace("true, false or a scikit-learn transformer", SETTINGS[name].domain.expected)
    if name == "preset":  # of which a file may name an ensemble too
        in_python = in_python.replace("'default' or 'paper'", SETTINGS[name].domain.expected)
    messages.append(in_python)
    if name in {field.name for field in dataclasses.fields(Settings)}:
        with pytest.raises(ChmcnnError) as caught:
            Settings(**{name: value})
        messages.append(str(caught.value))
    assert set(messages) == {expected}


def test_the_estimator_has_each_setting_with_its_default() -> None:
    parameters = inspect.signature(CHMCNNClassifier).parameters
    assert {name: parameters[name].default for name in SETTINGS} == {
        name: setting.default for name, setting in SETTINGS.items()
    }


def test_numpy_numbers_are_settings_and_are_stored_as_plain_ones(tmp_path: Path) -> None:
    numbers: Any = {"epochs": np.int64(2), "learning_rate": np.float64(0.1), "refit": np.True_, "seed": np.int32(1)}
    settings = Settings(**numbers)
    assert settings == Settings(epochs=2, learning_rate=0.1, refit=True, seed=1)
    assert {type(value) for value in dataclasses.asdict(settings).values()} <= {int, float, bool, str, type(None)}
    options: dict[str, Any] = {"epochs": np.int64(1), "widths": np.array([4]), "dropout": np.float32(0.5)}
    model = CHMCNNClassifier(**options, random_state=0, checkpoint=tmp_path / "checkpoint").fit(X, Y)
    model.save(tmp_path / "model")
    assert np.array_equal(CHMCNNClassifier.load(tmp_path / "model").predict_proba(X), model.predict_proba(X))


def test_a_system_refuses_presets_that_it_does_not_have() -> None:
    with pytest.raises(ChmcnnError, match=r"preset is 'paper'; expected 'default'\."):
        LMLP(preset="paper").fit(X, Y)


def test_a_model_without_hidden_layers_is_loaded(tmp_path: Path) -> None:
    model = Logistic(epochs=1, random_state=0).fit(X, Y)
    model.save(tmp_path / "model")
    loaded = Logistic.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    loaded.fit(X, Y)

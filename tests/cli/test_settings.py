"""How to train: options, and a file of settings."""

import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cli.inside import run

from chmcnn import CHMCNNClassifier, ChmcnnError
from chmcnn.cli._settings import TrainingOptions
from chmcnn.estimator._presets import PRESETS
from chmcnn.settings import SETTINGS

pytestmark = pytest.mark.usefixtures("without_pictures")
TABLE = ("train", "my.csv", "--hierarchy", "edges.csv", "--id-column", "name", "--categorical", "zone", "--quiet")
OPTIONS = (
    *("--preset", "paper", "--epochs", "2", "--batch-size", "32", "--learning-rate", "0.01", "--weight-decay", "0"),
    *("--averaging", "2", "--sharded"),
    *("--schedule", "cosine", "--precision", "bfloat16", "--validation-share", "0.4", "--patience", "1", "--no-refit"),
    *("--patience-growth", "0.1"),
    *("--max-minutes", "60", "--validation-sample", "5", "--output-rank", "2"),
    *("--tune-thresholds", "--calibration", "temperature", "--balanced", "--width", "8", "--dropout", "0.1"),
)


RANGES = {
    "--epochs": "[1 or more]",
    "--learning-rate": "[above 0]",
    "--weight-decay": "[0 or more]",
    "--schedule": "[constant or cosine]",
    "--max-minutes": "[above 0]",
    "--validation-share": "[0 to below 1; default: 0.2]",
    "--width": "[1 or more]",
}


@pytest.mark.parametrize(
    ("command", "presets"), [("train", "default or paper or best or fast"), ("search", "default or paper")]
)
def test_the_help_has_the_range_of_each_option(folder: Path, command: str, presets: str) -> None:
    words = re.sub(r"[\s│]+", " ", run(command, "--help", cwd=folder).stdout)
    for option, expected in {"--preset": f"[{presets}; default: default]", **RANGES}.items():
        text = words[words.rindex(f" {option} <") :]  # examples come before the options
        assert expected in text[: text.index("]") + 1], option


def test_every_option_that_is_not_a_switch_has_a_range() -> None:
    for name, setting in SETTINGS.items():
        domain = setting.option.domain if setting.option else setting.domain
        assert bool(domain.range) == (domain.type is not bool), name


def trained(folder: Path, output: Path, *options: str | Path) -> dict[str, Any]:
    done = run(*TABLE, *options, "-o", output, cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((output / "model.json").read_text())["settings"]
    return found


def test_every_option_reaches_the_model(folder: Path, tmp_path: Path) -> None:
    assert trained(folder, tmp_path / "model", *OPTIONS) == {
        "preset": "paper",
        "epochs": 2,
        "batch_size": 32,
        "learning_rate": 0.01,
        "weight_decay": 0.0,
        "schedule": "cosine",
        "averaging": 2.0,
        "sharded": True,
        "precision": "bfloat16",
        "validation": 0.4,
        "patience": 1,
        "patience_growth": 0.1,
        "max_minutes": 60.0,
        "validation_sample": 5,
        "refit": False,
        "threshold": "tune",
        "calibration": "temperature",
        "class_weight": "balanced",
        "widths": [8, 8],
        "dropout": 0.1,
        "output_rank": 2,
        "preprocess": True,
    }


def test_a_training_that_runs_out_of_time_says_so_and_writes_the_model(folder: Path, tmp_path: Path) -> None:
    done = run(*TABLE[:-1], "--max-minutes", "1e-9", "-o", tmp_path / "model", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "The time budget of 1e-09 minutes is over after 1 epoch: the weights of epoch 1 are kept." in done.stderr
    assert json.loads((tmp_path / "model" / "model.json").read_text())["best epoch"] == 1


def test_options_win_over_the_file_and_a_models_settings_are_such_a_file(folder: Path, tmp_path: Path) -> None:
    first = trained(folder, tmp_path / "model", *OPTIONS)
    (tmp_path / "settings.json").write_text(json.dumps(first))
    options = ("--config", tmp_path / "settings.json", "--epochs", "3", "--refit", "--no-balanced")
    second = trained(folder, tmp_path / "other", *options)
    assert second == first | {"epochs": 3, "refit": True, "class_weight": None}


def test_what_is_null_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"epochs": null, "widths": [9], "precision": null}')
    assert TrainingOptions(file).settings() == {"widths": [9]}


def test_the_known_keys_are_parameters_of_the_estimator_and_know_every_preset() -> None:
    assert set(SETTINGS) <= set(inspect.signature(CHMCNNClassifier).parameters)
    assert [name for name in PRESETS if not SETTINGS["preset"].domain.allows(name)] == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"lerning_rate": 1}', "unknown setting 'lerning_rate'; did you mean 'learning_rate'?"),
        ('{"nothing": null}', "unknown setting 'nothing'; expected one of preset, epochs"),
        ('{"epochs": "10"}', "epochs is '10'; expected an integer, 1 or more."),
        ('{"epochs": 2.5}', "epochs is 2.5; expected"),
        ('{"patience": true}', "patience is True; expected an integer, 0 or more."),
        ('{"widths": 500}', "widths is 500; expected a list of integers above 0, such as [500, 500]"),
        ('{"widths": [0]}', "widths is [0]; expected a list"),
        ('{"dropout": 1}', "dropout is 1; expected a number from 0 to below 1."),
        ('{"learning_rate": NaN}', "learning_rate is nan; expected a finite number above 0."),
        ('{"weight_decay": -1}', "weight_decay is -1; expected a finite number, 0 or more."),
        ('{"refit": 1}', "refit is 1; expected true or false."),
        ('{"schedule": "linear"}', "schedule is 'linear'; expected 'constant' or 'cosine'."),
        (
            '{"class_weight": {"dog": "2"}}',
            "class_weight is {'dog': '2'}; expected 'balanced', or weights",
        ),
        (
            '{"threshold": "best"}',
            "threshold is 'best'; expected a number from 0 to 1, 'tune', 'hierarchical_f' or 'fmax'.",
        ),
        ("[1]", "expected an object of settings"),
        ('{"epochs": 1,\n }', ", line 2, column"),
    ],
)
def test_a_wrong_file_is_told_with_its_name_and_the_key(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(content)
    with pytest.raises(ChmcnnError) as caught:
        TrainingOptions(file).settings()
    assert str(caught.value).startswith(str(file))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("my.csv", "--schedule", "linear"), "--schedule is 'linear'; expected 'constant' or 'cosine'."),
        (("my.csv", "--width", "0"), "--width is 0; expected an integer, 1 or more."),
        (("my.csv", "--learning-rate", "0"), "--learning-rate is 0.0; expected a finite number above 0."),
        (("my.csv", "--config", "none.json"), "none.json: the file cannot be read: No such file or directory."),
        (
            ("digits", "--validation-share", "0.1"),
            "digits is not a file; --validation-share is only for",
        ),
    ],
)
def test_wrong_options_are_told_before_the_training(folder: Path, options: tuple[str, ...], told: str) -> None:
    done = run("train", *options, "-o", "never", cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert not (folder / "never").exists()

"""Ensembles on the command line."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from tests.cli.inside import run

from chmcnn import CoherentEnsemble, load_model
from chmcnn.baselines import KernelRidge
from chmcnn.cli._model_output import _list_members

pytestmark = pytest.mark.usefixtures("without_pictures")

TABLE = ("my.csv", "--hierarchy", "edges.csv", "--id-column", "name", "--categorical", "zone", "--quiet")


@pytest.fixture(scope="module")
def best(folder: Path) -> Path:
    """A model of the preset best; most of the time of its network is saved."""
    done = run("train", *TABLE, "--test-share", "0", "--preset", "best", "--epochs", "3", "-o", "best", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Members and weights: " in done.stdout
    return folder / "best"


def test_a_preset_trains_an_ensemble_with_a_report(best: Path, folder: Path) -> None:
    files = ["class_facts.json", "model.json", "model.safetensors", "report.html"]
    assert sorted(path.name for path in best.iterdir()) == files
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
    page = (best / "report.html").read_text()
    assert "members and weights" in page
    assert "preset best" in page


@pytest.mark.parametrize(
    ("power", "expected"),
    [(0.0, "network 0.25, trees 0.75"), (0.15, "network 0.25, trees 0.75; rare classes raised, power 0.15")],
)
def test_members_are_listed_with_what_is_done_for_rare_classes(power: float, expected: str) -> None:
    model: Any = SimpleNamespace(weights_={"network": 0.25, "trees": 0.75}, rarity_=SimpleNamespace(power=power))
    assert _list_members(model) == expected


def test_the_fast_preset_says_what_was_chosen(folder: Path) -> None:
    done = run("train", *TABLE, "--preset", "fast", "--no-refit", "-o", "fast", "--json", cwd=folder)
    result = json.loads(done.stdout)
    assert load_model(folder / "fast").get_params()["refit"] is False
    assert sum(result["weights"].values()) == pytest.approx(1)
    assert 0 <= result["rarity"] <= 0.5
    assert result["validation AU(PRC)"] > 0.8
    assert result["test"]["auprc"]["value"] > 0.8
    page = run("evaluate", "fast", "test.csv", "--report", "fast.html", cwd=folder)
    assert page.returncode == 0, page.stderr


def test_disagreement_is_a_column_of_the_long_form(best: Path, folder: Path) -> None:
    done = run("predict", best, "new.csv", "--top", "2", "--disagreement", "-o", "best.parquet", cwd=folder)
    assert done.returncode == 0, done.stderr
    frame = pd.read_parquet(folder / "best.parquet")
    assert frame.columns.tolist() == ["name", "class", "score", "disagreement"]
    assert len(frame) == 20
    assert (frame["disagreement"] >= 0).all()


def test_one_member_alone_does_not_disagree(folder: Path) -> None:
    X, y = [[0.0], [1.0], [2.0]] * 5, ["a/b", "a", "c"] * 5
    CoherentEnsemble(members=[("ridge", KernelRidge())], random_state=0).fit(X, y).save(folder / "alone")
    done = run("predict", "alone", "new.csv", "--top", "2", "--disagreement", cwd=folder)
    assert done.returncode == 2
    assert "this ensemble has one, 'ridge'" in done.stderr


@pytest.mark.parametrize(
    ("preset", "state"), [("default", "network"), ("fast", "network"), ("fast", "."), ("best", ".")]
)
def test_the_state_of_a_training_with_another_preset_is_kept(tmp_path: Path, preset: str, state: str) -> None:
    (tmp_path / "my.csv").write_text("size,labels\n" + "1,a/c\n2,b\n" * 10)
    file = tmp_path / ".model.training" / state / "checkpoint.safetensors"
    file.parent.mkdir(parents=True)
    file.touch()
    done = run("train", "my.csv", "--preset", preset, cwd=tmp_path)
    assert done.returncode == 2
    assert "has the state of an interrupted training with another preset" in done.stderr
    assert file.exists()
    assert run("train", "my.csv", "--preset", preset, "--restart", "-q", cwd=tmp_path).returncode == 0
    assert not file.exists()


def test_the_state_of_another_training_is_no_fault_of_a_member(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("size,labels\n" + "1,a/c\n2,b\n" * 10)
    file = tmp_path / ".model.training" / "network" / "checkpoint.safetensors"
    file.parent.mkdir(parents=True)
    file.touch()
    done = run("train", "my.csv", "--preset", "best", "--quiet", cwd=tmp_path)
    assert "is not a complete checkpoint" in done.stderr
    assert "failed" not in done.stderr


def test_an_explanation_has_what_each_member_says(best: Path, folder: Path) -> None:
    facts = json.loads(run("explain", best, "new.csv", "--threshold", "0", "--json", cwd=folder).stdout)
    weights = json.loads((best / "model.json").read_text())["weights"]
    assert set(facts["0"][0]["members"]) == set(weights)
    assert "disagreement" in facts["0"][0]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("predict", "model", "new.csv", "--disagreement"), "this model has no members that could disagree"),
        (("predict", "model", "new.csv", "--labels", "--disagreement"), "--disagreement has no effect on label sets"),
        (("train", "a.parquet", "--stream", "--preset", "best", "-o", "x"), "--preset best needs all rows in memory"),
        (("train", *TABLE, "--preset", "fast", "--epochs", "3", "-o", "x"), "'fast' has no network: epochs would have"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, arguments: tuple[str, ...], reason: str) -> None:
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2
    assert reason in " ".join(done.stderr.split())
    assert not (folder / "x").exists()

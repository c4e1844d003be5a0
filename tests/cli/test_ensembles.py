"""Ensembles on the command line."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from tests.cli.inside import run

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
    [(0.0, "network 0.4, trees 0.6"), (0.15, "network 0.4, trees 0.6; rare classes raised, power 0.15")],
)
def test_members_are_listed_with_what_is_done_for_rare_classes(power: float, expected: str) -> None:
    model: Any = SimpleNamespace(weights_={"network": 0.4, "trees": 0.6}, rarity_=SimpleNamespace(power=power))
    assert _list_members(model) == expected


def test_the_fast_preset_says_what_was_chosen(folder: Path) -> None:
    done = run("train", *TABLE, "--preset", "fast", "-o", "fast", "--json", cwd=folder)
    result = json.loads(done.stdout)
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

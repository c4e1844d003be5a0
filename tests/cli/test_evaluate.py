"""evaluate with further measures, as a user runs it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.inside import run

from chmcnn import CHMCNNClassifier, metrics
from chmcnn.datasets import read_table

IDS = ("--id-column", "name")


def evaluate(folder: Path, *arguments: str | Path) -> dict[str, Any]:
    done = run("evaluate", "model", "test.csv", "--json", "--quiet", *IDS, *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)["figures"]
    return figures


def test_measures_are_added_to_the_usual_ones(folder: Path) -> None:
    (folder / "mine_to_evaluate.py").write_text("def gain(Y, scores):\n    return float(scores.sum())\n")
    usual = evaluate(folder)
    assert usual.keys() >= {"R-precision", "leaf accuracy", "mistake severity", "Fmax"}
    assert "Smin" not in usual, "nobody knows the training rows"
    more = evaluate(folder, "--metric", "precision@1", "--metric", "mine_to_evaluate:gain")
    assert {name: more[name] for name in usual} == usual
    assert more.keys() - usual.keys() == {"precision at 1", "gain"}
    assert more["gain"] > 0
    shown = run("evaluate", "model", "test.csv", "--quiet", *IDS, "--metric", "recall@2", cwd=folder).stdout
    assert "recall at 2" in shown
    (folder / "mine_to_evaluate.py").unlink()


def test_information_and_known_annotations_are_read_from_files(folder: Path, tmp_path: Path) -> None:
    model = CHMCNNClassifier.load(folder / "model")
    classes = model.hierarchy_.classes
    information = tmp_path / "IA.tsv"
    information.write_text("".join(f"{name}\t{place}\n" for place, name in enumerate(classes)))
    table = read_table(folder / "test.csv", model.hierarchy_, id_column="name", categorical=["zone"])
    ids = table.X.index.tolist()
    known = tmp_path / "known.tsv"
    known.write_text("".join(f"{name}\tanimal\n" for name in ids[:10]))
    before = model.hierarchy_.encode([{"animal"}] * 10 + [set()] * (len(ids) - 10))
    scores = model.predict_proba(table.X[list(model.feature_names_in_)])
    figures = evaluate(folder, "--information", information, "--known", known)
    weights = list(range(len(classes)))
    expected = metrics.fmax(table.Y, scores, information=weights, known=before)
    assert figures["weighted Fmax"] == pytest.approx(expected.value)
    assert figures["Smin"] == pytest.approx(metrics.smin(table.Y, scores, weights, known=before).value)
    assert figures["Fmax"] == pytest.approx(metrics.fmax(table.Y, scores, known=before).value)
    known.write_text("".join(f"{name}\t{label}\n" for name in ids for label in classes))
    done = run("evaluate", "model", "test.csv", "--quiet", "--known", known, cwd=folder)  # the model knows the ids
    assert "Every label is known before: there is nothing to measure." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--metric", "precison@5"), "Unknown measure 'precison@5'. Did you mean 'precision@5'?"),
        (("--metric", "none_such:gain"), "there is no module 'none_such'"),
        (("--metric", "smin"), "smin needs the information of the classes"),
        (
            ("--information", "edges.csv"),
            "edges.csv, line 1: the line is 'parent,child'; expected a class and a number",
        ),
        (("--information", "none.tsv"), "none.tsv: the file cannot be read: No such file"),
        (
            ("--id-column", "", "--known", "edges.csv"),
            "--known finds rows by their ids: name their column with --id-column.",
        ),
    ],
)
def test_bad_input_is_told(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    done = run("evaluate", "model", "test.csv", "--quiet", *arguments, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr

"""train, predict, evaluate, explain and demo, as a user runs them."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from unittest import mock

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from tests import processes
from tests.cli.inside import run, run_to_file

from chmcnn import CHMCNNClassifier
from chmcnn._workers import abandon
from chmcnn.cli import main
from chmcnn.datasets.synthetic import learnable
from chmcnn.training import Ranks, TrainingState
from chmcnn.training._checkpoint import Checkpoint


def ok(*arguments: str | Path, cwd: Path) -> str:
    done = run(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_training_writes_a_model_and_a_report_and_nothing_else(folder: Path) -> None:
    assert sorted(path.name for path in (folder / "model").iterdir()) == [
        "class_facts.json",
        "model.json",
        "model.safetensors",
        "report.html",
    ]
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
    page = (folder / "model" / "report.html").read_text()
    for text in ("24 rows that", "Most frequent delegations", "<th>Best</th>", "data:image/png;base64,"):
        assert text in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_cells_that_no_training_row_had_are_told(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "new.csv").assign(zone="far")
    table.to_csv(tmp_path / "far.csv", index=False)
    done = run("predict", folder / "model", "far.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "10 of 10 rows have a category of 'zone' that no training row had, such as 'far'" in done.stderr
    assert run("predict", folder / "model", "far.csv", "--quiet", cwd=tmp_path).stderr == ""


def test_a_column_that_numbers_the_rows_is_told(tmp_path: Path) -> None:
    rows = [f"{number},{number % 7},{'a/b' if number % 2 else 'a/c'}" for number in (*range(20, 40), *range(20))]
    (tmp_path / "my.csv").write_text("\n".join(["sku,size,labels", *rows]))
    done = run("train", "my.csv", "--epochs", "1", "--test-share", "0", "--path-separator", "/", cwd=tmp_path)
    assert (
        "'sku' numbers the rows, and is a feature now: if it has their names, name it with --id-column" in done.stderr
    )
    assert "'size'" not in done.stderr


def test_test_rows_that_are_training_rows_are_told(folder: Path, tmp_path: Path) -> None:
    columns = ("--hierarchy", "edges.csv", "--id-column", "name", "--categorical", "zone")
    train = ("train", "my.csv", *columns, "--epochs", "1", "-o")
    known = run(*train, tmp_path / "known", "--test", "my.csv", cwd=folder)
    assert "120 of 120 rows of my.csv have the id of a training row: the measures are too good" in known.stderr
    other = run(*train, tmp_path / "other", "--test", "test.csv", cwd=folder)
    assert "have the id" not in other.stderr
    assert " test.csv: " in other.stdout


@pytest.mark.parametrize(("given", "found"), [({}, "1000"), ({"OMP_WAIT_POLICY": "ACTIVE"}, None)])
def test_threads_that_wait_sleep_soon_unless_the_user_says_otherwise(
    given: dict[str, str], found: str | None, tmp_path: Path
) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    with mock.patch.dict(os.environ, kept | given, clear=True):
        assert run("--version", cwd=tmp_path).returncode == 0
        assert os.environ.get("GOMP_SPINCOUNT") == found


def test_an_empty_folder_is_taken_and_a_better_threshold_is_suggested(folder: Path, tmp_path: Path) -> None:
    columns = ("--hierarchy", "edges.csv", "--id-column", "name", "--categorical", "zone")
    train = ("train", "my.csv", *columns, "-o", tmp_path, "--epochs", "1")
    assert "Label sets have the classes with a score of 0.99 or more." in ok(*train, "--threshold", "0.99", cwd=folder)
    assert "--threshold hierarchical_f to predict" in ok(*train, "--threshold", "0.01", "--force", cwd=folder)
    assert "Label sets" not in ok(*train, "--threshold", "fmax", "--force", cwd=folder)


def test_scores_and_labels_of_new_rows(folder: Path) -> None:
    printed = ok("predict", "model", "new.csv", "--id-column", "name", cwd=folder)
    assert printed.splitlines()[0] == "name,animal,cat,dog,pet"
    ok("predict", "model", "new.csv", "-o", "scores.parquet", "--id-column", "name", cwd=folder)
    scores = pd.read_parquet(folder / "scores.parquet")
    assert scores.index[0] == "n120"
    model = CHMCNNClassifier.load(folder / "model")
    assert len(model.hierarchy_.violations(scores.to_numpy())) == 0
    ok("predict", "model", "new.csv", "-o", "scores.json", cwd=folder)
    assert len(json.loads((folder / "scores.json").read_text())) == 10
    labels = ok("predict", "model", "test.csv", "--labels", "--most-specific", cwd=folder).splitlines()
    truth = pd.read_csv(folder / "test.csv")["labels"]
    said = [line.split(",")[1] for line in labels[1:]]
    assert np.mean(np.array(said) == truth.to_numpy()) > 0.8


def test_an_evaluation_may_have_a_page(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "evaluation.html"
    ok("evaluate", "model", "test.csv", "--report", file, cwd=folder)
    page = file.read_text()
    for text in ("chmcnn evaluate model test.csv --report evaluation.html", "Examples", "learning_rate", "seed"):
        assert text in page
    assert "not trained on" not in page
    assert "already exists" in run("evaluate", "model", "test.csv", "--report", file, cwd=folder).stderr
    ok("evaluate", "model", "test.csv", "--report", file, "--force", cwd=folder)
    refused = run("evaluate", "model", "test.csv", "--report", "page.pdf", cwd=folder)
    assert "page.pdf ends in '.pdf'; expected .html" in refused.stderr


def test_measures_as_a_table_and_for_machines(folder: Path) -> None:
    assert "violations" in ok("evaluate", "model", "test.csv", cwd=folder)
    found = json.loads(ok("evaluate", "model", "test.csv", "--json", cwd=folder))
    assert found["auprc"]["low"] <= found["auprc"]["value"] <= found["auprc"]["high"]
    assert found["auprc"]["value"] > 0.9
    assert found["figures"]["violations"] == 0
    assert found["rows"] == 30
    assert set(found["by_class"]["dog"]) == {"rows", "auprc", "precision", "recall", "f"}
    assert set(found["levels"]) == {"0", "1"}


def test_progress_of_an_evaluation_is_shown_on_standard_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes it for a terminal
    monkeypatch.setenv("TERM", "xterm")
    done = run("evaluate", "model", "test.csv", "--json", cwd=folder)
    assert "Bootstrap" in done.stderr
    assert "Bootstrap" not in done.stdout
    assert run("evaluate", "model", "test.csv", "--json", "--quiet", cwd=folder).stderr == ""


def test_explanations(folder: Path) -> None:
    shown = ok("explain", "model", "new.csv", "--row", "0", "--row", "3", cwd=folder)
    assert [line for line in shown.splitlines() if line.startswith("row")] == ["row 0", "row 3"]
    found = json.loads(ok("explain", "model", "new.csv", "--json", cwd=folder))
    assert set(found["0"][0]) == {"name", "score", "delegate"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("train", "my.csv", "-o", "model"), "model: already exists; choose another folder with -o, or use --force"),
        (("train", "my.csv", "-o", ".", "--force"), "not a model folder, so it is not overwritten"),
        (("train", "my.csv", "-o", "."), "not a model folder, so it is not overwritten"),
        (("train", "no.csv", "-o", "other"), "no.csv: the file does not exist."),
        (("train", "digits", "-o", "other", "--preset", "slow"), "--preset is 'slow'; expected 'default' or 'paper'"),
        (
            ("train", "digits", "-o", "other", "--labels", "x"),
            "digits is not a file; --labels is only for",
        ),
        (
            ("train", "digits", "-o", "other", "--test", "my.csv"),
            "digits is not a file; --test is only for a table of your own.",
        ),
        (
            (
                "train",
                "my.csv",
                "--hierarchy",
                "edges.csv",
                "--id-column",
                "name",
                "--categorical",
                "zone",
                "-o",
                "other",
                "--test",
                "fewer.csv",
            ),
            "has different columns than",
        ),
        (("evaluate", "model", "digits"), "digits has different classes than the model."),
        (("predict", "model", "digits"), "digits has other columns than the table that the model was trained on."),
        (("predict", "nowhere", "new.csv"), "nowhere: there is no such folder; expected a folder that `chmcnn train`"),
        (("predict", "model", "edges.csv"), "there is no column 'size'"),
        (("predict", "model", "new.csv", "-o", "my.csv"), "my.csv already exists"),
        (("predict", "model", "new.csv", "-o", "scores.xls"), "ends in '.xls'; expected .csv or .tsv or .parquet"),
        (("evaluate", "model", "new.csv"), "there is no column 'labels'; name your column of labels with --labels "),
        (("explain", "model", "new.csv", "--row", "10"), "--row is 10, but new.csv has 10 rows, counted from 0."),
    ],
)
def test_bad_input_is_told(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    before = sorted(path.name for path in folder.iterdir())
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


def test_other_separators_are_told_with_their_options(folder: Path, tmp_path: Path) -> None:
    rows = (folder / "test.csv").read_text()
    (tmp_path / "semicolons.csv").write_text(rows.replace(",", ";"))
    (tmp_path / "blanks.csv").write_text(rows.replace("dog", "dog cat"))
    for command in ("predict", "evaluate"):
        done = run(command, folder / "model", "semicolons.csv", cwd=tmp_path)
        assert "read as separated by ','; write it so, or name another delimiter with --delimiter" in done.stderr
    done = run("evaluate", folder / "model", "blanks.csv", cwd=tmp_path)
    assert "but 'dog', 'cat' are classes: to separate them, pass --separator ' '." in done.stderr


def test_a_trained_model_advises_no_other_training(folder: Path, tmp_path: Path) -> None:
    rows = (folder / "test.csv").read_text().splitlines()
    name, _, *others = rows[2].split(",")
    (tmp_path / "wrong.csv").write_text("\n".join([*rows[:2], ",".join([name, "big", *others]), *rows[3:], ""]))
    for command in ("predict", "evaluate"):
        done = run(command, folder / "model", "wrong.csv", cwd=tmp_path)
        assert done.returncode == 2
        told = "'big' is not a finite number, but the column seems numeric; correct it, as the model was trained on"
        assert f"wrong.csv, line 3, column 2: column 'size': {told} numbers there.\n" in done.stderr


def train_interrupted(arguments: tuple[str, ...], cwd: Path, printed: Path, by: signal.Signals) -> None:
    """Train until Ctrl-C, which what a shell runs in the background ignores, and so do tests there, but not this."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    save = Checkpoint.save

    def save_and_interrupt(checkpoint: Checkpoint, state: TrainingState, ranks: Ranks) -> None:
        save(checkpoint, state, ranks)
        if state.epoch == 3:
            signal.raise_signal(by)

    with mock.patch.object(Checkpoint, "save", save_and_interrupt):
        run_to_file(arguments, cwd, printed)


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(("by", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_training_goes_on(by: signal.Signals, expected: int, tmp_path: Path) -> None:
    data = learnable(rows=120, classes=20, depth=3)
    frame = pd.DataFrame(data.train.X).rename(columns=lambda name: f"x{name}")
    names = [";".join(sorted(labels)) for labels in data.hierarchy.decode(data.train.Y, most_specific=True)]
    frame.assign(labels=names).to_csv(tmp_path / "my.csv", index=False)
    (tmp_path / "edges.json").write_text(data.hierarchy.to_json())
    arguments = ("train", "my.csv", "--hierarchy", "edges.json", "--epochs", "15", "--width", "16", "--quiet", "-o")
    process = processes.start(train_interrupted, (*arguments, "model"), tmp_path, tmp_path / "printed.json", by)
    state = tmp_path / ".model.training" / "checkpoint.safetensors"
    process.join()
    assert state.exists()
    code, _, errors = json.loads((tmp_path / "printed.json").read_text())
    assert code == expected, errors
    assert "interrupted" in errors
    assert not (tmp_path / "model").exists()
    resumed = json.loads(ok(*arguments, "model", "--json", cwd=tmp_path))
    whole = json.loads(ok(*arguments, "other", "--json", cwd=tmp_path))
    assert resumed["test"] == whole["test"]
    assert not state.exists()


def interrupt_beside_a_thread() -> None:
    executor = ThreadPoolExecutor()
    executor.submit(time.sleep, 600)
    abandon(executor)
    with mock.patch("chmcnn.cli.app", side_effect=SystemExit(130)):
        main()


def test_an_interrupt_does_not_wait_for_members_in_other_threads() -> None:
    process = processes.start(interrupt_beside_a_thread)
    process.join(60)
    assert process.exitcode == 130


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="needs a disk that is full")
def test_a_full_disk_is_told(folder: Path, tmp_path: Path) -> None:
    program = "import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1)\nfrom chmcnn.cli import main; main()"
    (tmp_path / "chmcnn").write_text(program)
    done = processes.run_program(tmp_path / "chmcnn", "predict", "model", "new.csv", cwd=folder)
    assert done.returncode != 0
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_demo_leaves_a_picture_and_a_report(tmp_path: Path) -> None:
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Training" in done.stderr
    assert "violations" in done.stdout
    assert "delegates to" in done.stdout
    assert "Walk through the hierarchy in a browser: open demo/report.html,\n" in done.stdout
    assert done.stdout.endswith("or serve the model, and predict rows of your own: chmcnn serve demo\n")
    assert matplotlib.image.imread(tmp_path / "demo" / "digits.png").shape[1] > 1000
    assert "AU(PRC)" in (tmp_path / "demo" / "report.html").read_text()
    assert "demo: already exists" in run("demo", cwd=tmp_path).stderr
    found = json.loads(ok("evaluate", "demo", "digits", "--json", cwd=tmp_path))
    assert found["auprc"]["value"] > 0.95
    assert "row 3" in ok("explain", "demo", "digits", "--row", "3", cwd=tmp_path)
    assert len(ok("predict", "demo", "digits", cwd=tmp_path).splitlines()) == 501


@pytest.mark.usefixtures("without_pictures")
def test_the_demo_for_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chmcnn.CHMCNNClassifier", partial(CHMCNNClassifier, epochs=3), raising=False)
    done = run("demo", "--json", "--quiet", "--device", "cpu", "-o", "mine", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert 0.5 < found["test"]["auprc"]["value"] < 1
    assert (tmp_path / found["picture"]).is_file()
    assert set(found["a test picture"][0]) == {"name", "score", "delegate"}
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == [
        "class_facts.json",
        "digits.png",
        "model.json",
        "model.safetensors",
        "report.html",
    ]


def test_help_shows_examples_and_whole_options(tmp_path: Path) -> None:
    for command, example in {
        "demo": "chmcnn demo --output",
        "train": "chmcnn train my.csv --hierarchy edges.csv",
        "predict": "chmcnn predict model/ new.csv -o scores.csv",
        "evaluate": "chmcnn evaluate model/ test.csv",
        "explain": "chmcnn explain model/ new.csv",
    }.items():
        shown = ok(command, "--help", cwd=tmp_path)
        assert example in shown
        assert "…" not in shown, "every option fits a narrow terminal"


@pytest.mark.usefixtures("without_pictures")
def test_columns_that_say_nothing_are_told(tmp_path: Path) -> None:
    rows = [f"{number},,7,red,{'dog' if number % 2 else 'cat'}" for number in range(40)]
    (tmp_path / "my.csv").write_text("\n".join(["size,weight,height,colour,labels", *rows]))
    (tmp_path / "edges.csv").write_text("parent,child\nanimal,dog\nanimal,cat\n")
    arguments = ("train", "my.csv", "--hierarchy", "edges.csv", "--epochs", "1", "-o", "model")
    told = "Columns with the same value, or none, in every training row say nothing: 'weight', 'height', 'colour'."
    assert told in run(*arguments, cwd=tmp_path).stderr


@pytest.mark.usefixtures("without_pictures")
def test_classes_that_no_training_row_has_are_told(tmp_path: Path) -> None:
    rows = [f"{number},{'dog' if number % 2 else 'cat'}" for number in range(40)]
    (tmp_path / "my.csv").write_text("\n".join(["size,labels", *rows]))
    (tmp_path / "edges.csv").write_text("parent,child\nanimal,dog\nanimal,cat\nanimal,yak\n")
    arguments = ("train", "my.csv", "--hierarchy", "edges.csv", "--epochs", "1", "-o", "model")
    assert "No training row has 'yak': the model cannot learn it." in run(*arguments, cwd=tmp_path).stderr

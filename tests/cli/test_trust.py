"""Hostile names, missing memory, closed output, and two commands at once."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import filelock
import pandas as pd
import pytest
from tests.cli.inside import run

from chmcnn import CHMCNNClassifier, Hierarchy

HOSTILE = "=1+1\x1b[31m\u202e"
TRAIN = ("--hierarchy", "edges.csv", "--id-column", "name", "--categorical", "zone", "--epochs", "1", "--width", "8")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of a class with a hostile name, and a table of a row with one."""
    place = tmp_path_factory.mktemp("hostile")
    table = pd.DataFrame({"x": [0.0, 1.0] * 10}, index=pd.Index([f"r{number}" for number in range(20)], name="id"))
    tree = Hierarchy.from_edges([("a", HOSTILE), ("a", "b")])
    model = CHMCNNClassifier(tree, epochs=1, widths=(4,), random_state=0).fit(table, [{HOSTILE}, {"b"}] * 10)
    model.save(place / "model")
    (place / "tree.json").write_text(tree.to_json())
    table[:2].rename({"r0": "@SUM(A1)\u009b"}).assign(labels=[HOSTILE, "b"]).to_csv(place / "new.csv")
    return place


def test_names_do_not_control_the_terminal(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(io, "StringIO", Terminal)
    commands = [
        ("explain", "model", "new.csv", "--threshold", "0"),
        ("explain", "model", "new.csv", "--threshold", "0", "--json"),
        ("explain", "model", "new.csv", "--row", HOSTILE),
        ("evaluate", "model", "new.csv", "--json"),
        ("evaluate", "model", "new.csv", "--threshold", HOSTILE),
        ("datasets", "show", "new.csv", "--hierarchy", "tree.json", "--id-column", "id"),
        ("predict", "model", f"{HOSTILE}.csv"),
        ("predict", "model", "new.csv"),
    ]
    for command in commands:
        done = run(*command, cwd=hostile)
        printed = done.stdout + done.stderr
        assert not any(control in printed for control in ("\x1b[31m", "\u202e", "\u009b")), command
        assert "u202e" in printed, command


def test_a_table_that_is_printed_to_a_file_has_names_as_they_are(hostile: Path) -> None:
    done = run("predict", "model", "new.csv", cwd=hostile)
    assert HOSTILE in done.stdout.splitlines()[0]


@pytest.mark.parametrize("form", [("--format", "wide"), ("--labels",), ("--top", "3")])
def test_tables_for_spreadsheets_have_no_formulas(hostile: Path, form: tuple[str, ...], tmp_path: Path) -> None:
    for options in ((), ("--spreadsheet",)):
        file = tmp_path / f"scores{len(options)}.csv"
        assert run("predict", "model", "new.csv", *form, *options, "-o", file, cwd=hostile).returncode == 0
        cells = [cell for line in file.read_text().splitlines() for cell in line.split(",")]
        assert any(cell.startswith("@SUM") for cell in cells) == (not options)
        assert any(cell.startswith(("=", "@")) for cell in cells) == (not options)
        assert any(cell == "'@SUM(A1)\u009b" for cell in cells) == bool(options)


def test_measures_for_spreadsheets_have_no_formulas(hostile: Path, tmp_path: Path) -> None:
    done = run("evaluate", "model", "new.csv", "--spreadsheet", "-o", tmp_path / "classes.csv", cwd=hostile)
    assert done.returncode == 0, done.stderr
    assert f"\n'{HOSTILE}," in (tmp_path / "classes.csv").read_text()
    for command in (("evaluate", "model", "new.csv", "-o", tmp_path / "a.json"), ("predict", "model", "new.csv")):
        done = run(*command, "--spreadsheet", cwd=hostile)
        assert done.returncode == 2
        assert "--spreadsheet is for CSV and TSV files; name one with -o, or leave it out." in done.stderr


def test_the_second_of_two_trainings_says_that_the_first_is_at_work(folder: Path, tmp_path: Path) -> None:
    command = ("train", folder / "my.csv", *TRAIN, "-o", tmp_path / "mine", "--quiet")
    with filelock.FileLock(tmp_path / ".mine.lock"):
        done = run(*command, cwd=folder)
    assert done.returncode == 2
    assert "mine: another training for this folder is at work; wait until it ends, or choose" in done.stderr
    assert run(*command, cwd=folder).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    "command",
    [
        ("train", "my.csv", *TRAIN, "-o", "file/model"),
        ("demo", "-o", "file/model"),
        ("predict", "model", "new.csv", "-o", "file/scores.csv"),
        ("evaluate", "model", "test.csv", "--report", "file/report.html"),
        ("explain", "model", "new.csv", "-o", "file/why.json"),
        ("compare", "digits", "-o", "file/comparison"),
        ("search", "my.csv", *TRAIN[:6], "-o", "file/search"),
        ("reproduce", "figure1", "-o", "file/paper"),
        ("rectangles", "-o", "file/picture.png"),
        ("datasets", "export", "digits", "-o", "file/digits.csv"),
        ("datasets", "show", "digits", "-o", "file/digits.png"),
    ],
    ids=lambda command: "-".join(command[:2]),
)
def test_output_that_cannot_be_written_is_told_before_any_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def work(*_: object, **__: object) -> None:
        pytest.fail("work began")

    for function in ("CHMCNNClassifier.fit", "comparison.compare", "experiments.figure1.run"):
        monkeypatch.setattr(f"chmcnn.{function}", work)
    (folder / "file").write_text("in the way")
    done = run(*command, cwd=folder)
    assert done.returncode == 2
    assert "Not a directory" in done.stderr
    assert "file/" in done.stderr


def test_missing_memory_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (
        MemoryError("Unable to allocate 8 TiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    ):

        def fail(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("chmcnn.estimator.HierarchicalClassifier.load", fail)
        done = run("predict", "model", "new.csv", cwd=folder)
        assert done.returncode == 2
        assert done.stderr.startswith(f"chmcnn: there is not enough memory: {error}. Use a smaller --width or")


def test_output_that_is_closed_or_full_is_told() -> None:
    command = [sys.executable, "-c", "from chmcnn.cli import main; main()", "datasets", "list", "--json"]
    closed = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, preexec_fn=lambda: os.close(1))
    assert closed.returncode == 2
    assert closed.stderr.startswith("chmcnn: standard output is closed, so no result can be printed; redirect it")
    if Path("/dev/full").exists():
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("chmcnn: ")
        assert "No space left on device" in done.stderr


def test_a_parquet_file_without_checksums_is_described_as_such(tmp_path: Path) -> None:
    table = pd.DataFrame({"x": [0.0, 1.0], "labels": ["a/b", "a/c"]})
    for has_checksums in (False, True):
        table.to_parquet(tmp_path / "my.parquet", write_page_checksum=has_checksums)
        done = run("datasets", "show", "my.parquet", "--json", "--force", cwd=tmp_path)
        assert json.loads(done.stdout)["without checksums"] == ([] if has_checksums else ["my.parquet"])

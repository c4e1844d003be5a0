"""Where results and notices go: files, standard output, standard error."""

import json
import sys
import warnings
from pathlib import Path

import pandas as pd
import pytest
from tests.cli.inside import run

from chmcnn import cli
from chmcnn.cli._options import Invocation


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "model", "new.csv", "-o", "quiet/scores.csv"),
        ("evaluate", "model", "test.csv", "-o", "quiet/figures.json"),
        ("explain", "model", "new.csv", "-o", "quiet/reasons.json"),
    ],
)
def test_notices_go_to_standard_error_unless_quiet(folder: Path, arguments: tuple[str, ...]) -> None:
    told = run(*arguments, cwd=folder)
    assert arguments[-1] in told.stderr
    assert arguments[-1] not in told.stdout
    silent = run(*arguments, "--quiet", "--force", cwd=folder)
    assert (silent.returncode, silent.stderr, silent.stdout) == (0, "", told.stdout)


def test_a_warning_is_printed_as_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = warnings.formatwarning
    monkeypatch.setattr(cli, "app", lambda: sys.stdout.write(warnings.formatwarning("few", UserWarning, "a.py", 3)))
    assert run(cwd=tmp_path).stdout == "few\n"
    assert warnings.formatwarning is before


def test_the_figures_go_to_a_file_as_well(folder: Path, tmp_path: Path) -> None:
    printed = run("evaluate", "model", "test.csv", "--json", "-o", tmp_path / "figures.json", cwd=folder).stdout
    found = json.loads((tmp_path / "figures.json").read_text())
    assert found == json.loads(printed)
    assert "violations" in run("evaluate", "model", "test.csv", "-o", tmp_path / "classes.csv", cwd=folder).stdout
    classes = pd.read_csv(tmp_path / "classes.csv", index_col="class")
    assert classes.to_dict(orient="index") == found["by_class"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["classes.csv", "figures.json"]


def test_explanations_go_to_a_file_in_place_of_being_printed(folder: Path, tmp_path: Path) -> None:
    printed = run("explain", "model", "new.csv", "--row", "2", "--json", cwd=folder).stdout
    done = run("explain", "model", "new.csv", "--row", "2", "-o", tmp_path / "reasons.json", cwd=folder)
    assert done.stdout == ""
    assert json.loads((tmp_path / "reasons.json").read_text()) == json.loads(printed)


def test_predictions_are_printed_as_the_json_that_is_written(folder: Path, tmp_path: Path) -> None:
    printed = run("predict", "model", "new.csv", "--id-column", "name", "--json", cwd=folder).stdout
    assert set(json.loads(printed)["n120"]) == {"animal", "cat", "dog", "pet"}
    run("predict", "model", "new.csv", "--id-column", "name", "-o", tmp_path / "scores.json", cwd=folder)
    assert (tmp_path / "scores.json").read_text() == printed


def test_the_most_specific_classes_are_label_sets(folder: Path) -> None:
    shown = run("predict", "model", "new.csv", "--most-specific", cwd=folder).stdout
    assert shown.splitlines()[0] == "name,labels"
    assert shown == run("predict", "model", "new.csv", "--labels", "--most-specific", cwd=folder).stdout
    assert shown != run("predict", "model", "new.csv", "--labels", cwd=folder).stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("evaluate", "model", "test.csv", "-o", "my.csv"), "my.csv already exists; choose another file, or use"),
        (("evaluate", "model", "test.csv", "-o", "a.html"), "a.html ends in '.html'; expected .json or .csv."),
        (("evaluate", "model", "test.csv", "-o", "model"), "model is a folder; choose a file in it"),
        (("explain", "model", "new.csv", "-o", "a.csv"), "a.csv ends in '.csv'; expected .json."),
        (("explain", "model", "new.csv", "-o", "model/model.json", "--force"), "is a part of a model, which is never"),
        (
            ("evaluate", "model", "test.csv", "-o", "./test.csv", "--force"),
            "test.csv is read by this command",
        ),
        (("evaluate", "model", "test.csv", "--report", "test.csv", "--force"), "test.csv is read by this command"),
        (("predict", "model", "new.csv", "-o", "new.csv", "--force"), "new.csv is read by this command"),
        (
            ("datasets", "export", "my.csv", "--hierarchy", "edges.csv", "-o", "edges.csv", "--force"),
            "edges.csv is read by this command",
        ),
        (("predict", "model", "new.csv", "--json", "-o", "a.csv"), "a.csv is written by its ending; leave out --json"),
    ],
)
def test_a_file_that_cannot_be_is_told_before_anything_is_done(
    folder: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stdout == ""


def test_links_and_folders_do_not_hide_what_is_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(folder / "model" / "model.json")
    done = run("explain", folder / "model", folder / "new.csv", "-o", "link.json", "--force", cwd=tmp_path)
    assert "is a part of a model" in done.stderr
    (tmp_path / "big").mkdir()
    pd.read_csv(folder / "new.csv").to_parquet(tmp_path / "big" / "a.parquet")
    before = (tmp_path / "big" / "a.parquet").read_bytes()
    done = run("predict", folder / "model", "big", "-o", "big/a.parquet", "--force", cwd=tmp_path)
    assert "a.parquet is read by this command" in done.stderr
    assert (tmp_path / "big" / "a.parquet").read_bytes() == before


def test_a_record_has_no_whole_paths_and_no_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["chmcnn", "search", "/home/me/my.csv", "-o", "out", "--storage", "postgresql://me:secret@host/db"]
    monkeypatch.setattr(sys, "argv", words)
    assert Invocation().command == "chmcnn search my.csv -o out --storage postgresql://me:***@host/db"

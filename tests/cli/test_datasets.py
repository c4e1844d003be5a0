import json
import os
import subprocess
from pathlib import Path
from unittest import mock

import matplotlib.image
import pytest
from benchmarks import shapes
from tests.cli import inside
from tests.datasets.server import serve

from chmcnn.datasets.catalogue import catalogue

needs_files = pytest.mark.skipif(not shapes.data_folder().is_dir(), reason="the files of the benchmark are not there")
MINE = "size,labels\n1,sport/tennis\n2,sport/chess|politics\n3,politics\n"


def run(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"CHMCNN_DATA", "CHMCNN_CACHE"}}
    surroundings = kept | {"CHMCNN_CACHE": str(cwd / "cache"), "CHMCNN_MIRROR": "http://127.0.0.1:9"} | variables
    with mock.patch.dict(os.environ, surroundings, clear=True):
        return inside.run("datasets", *arguments, cwd=cwd)


def test_the_list_fits_a_narrow_terminal(tmp_path: Path) -> None:
    done = run("list", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["name", "train", "valid", "test", "features", "classes", "edges", "depth", "files"]
    assert lines[1].split() == ["digits", "1,000", "297", "500", "64", "19", "23", "2", "in", "package"]
    assert lines[2].split() == ["cellcycle_FUN", "1,628", "848", "1,281", "77", "499", "499", "6", "to", "fetch"]
    assert sum("to fetch" in line for line in lines) == 20


@needs_files
def test_the_list_says_what_is_here(tmp_path: Path) -> None:
    done = run("list", "--json", "--data-dir", str(shapes.data_folder()), cwd=tmp_path)
    listed = {row["name"]: row for row in json.loads(done.stdout)}
    assert len(listed) == 21
    assert listed["seq_GO"]["files"] == "here"
    assert listed["seq_GO"]["classes"] == 4130
    assert listed["enron"]["valid"] is None


def test_an_altered_file_shows_in_the_list(tmp_path: Path) -> None:
    file = tmp_path / "data" / "others" / "Enron_corr_test.arff"
    file.parent.mkdir(parents=True)
    file.write_text("altered")
    done = run("list", "--json", cwd=tmp_path, CHMCNN_DATA=str(tmp_path / "data"))
    assert {row["name"]: row["files"] for row in json.loads(done.stdout)}["enron"] == "altered: Enron_corr_test.arff"


@needs_files
def test_files_are_fetched_once_and_then_here(tmp_path: Path) -> None:
    with serve(shapes.data_folder().parent, "honest") as (address, asked):
        done = run("fetch", "enron", "digits", cwd=tmp_path, CHMCNN_MIRROR=address)
        assert done.returncode == 0, done.stderr
        assert "Enron_corr_test.arff" in done.stderr
        assert "digits: inside the package" in done.stdout
        again = run("fetch", "enron", cwd=tmp_path, CHMCNN_MIRROR=address)
        assert again.stdout.strip() in done.stdout
        assert len(asked) == 2
    listed = {row["name"]: row["files"] for row in json.loads(run("list", "--json", cwd=tmp_path).stdout)}
    assert listed["enron"] == "here"
    assert run("show", "enron", cwd=tmp_path).returncode == 0


def test_without_a_network_fetching_says_what_to_do(tmp_path: Path) -> None:
    done = run("fetch", "enron", "--quiet", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("chmcnn: Enron_corr_trainvalid.arff could not be downloaded from http")
    assert str(tmp_path / "cache" / catalogue()["enron"].files["train"].path) in done.stderr.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fetch",), "Name the data sets to fetch, or use --all; not both."),
        (("fetch", "enrom"), "There is no data set 'enrom'. Did you mean 'enron'?"),
        (("show", "digit"), "There is no data set 'digit'. Did you mean 'digits'?"),
        (("show", "no.csv"), "no.csv: the file does not exist."),
        (("show", "mine.csv", "--labels", "topics"), "there is no column 'topics'"),
        (("show", "mine.csv", "--hierarchy", "no.obo"), "no.obo: the file of the hierarchy does not exist."),
        (("show", "digits", "-o", "picture.xyz"), "expected a picture format"),
        (("show", "mine.csv", "--train", "no.arff"), "mine.csv is a file; --train is only for the name of a data set."),
        (
            ("show", "digits", "--hierarchy", "no.csv"),
            "digits is not a file; --hierarchy is only for",
        ),
        (("list", "--data-dir", "nowhere"), "The data folder nowhere does not exist"),
        (("show", "enron", "--train", "no.arff"), "no.arff, named as the train part of enron, does not exist"),
    ],
)
def test_bad_input_is_told_and_writes_nothing(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    (tmp_path / "mine.csv").write_text(MINE)
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["mine.csv"]


def test_a_data_set_is_described_and_drawn(tmp_path: Path) -> None:
    done = run("show", "digits", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "train 1,000, valid 297, test 500" in done.stdout
    assert matplotlib.image.imread(tmp_path / "digits.png").shape[1] > 1000


def test_a_picture_that_exists_is_kept_and_the_data_set_described(tmp_path: Path) -> None:
    picture = tmp_path / "digits.png"
    picture.write_text("mine")
    done = run("show", "digits", cwd=tmp_path)
    assert (done.returncode, picture.read_text()) == (0, "mine")
    assert "train 1,000, valid 297, test 500" in done.stdout
    assert "digits.png already exists and is kept; draw it again with --force" in done.stderr
    refused = run("show", "digits", "-o", "digits.png", cwd=tmp_path)
    assert refused.returncode == 2
    assert "digits.png already exists" in refused.stderr
    assert run("show", "digits", "--force", cwd=tmp_path).returncode == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_table_of_the_users_own_is_described_and_drawn(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(MINE)
    done = run("show", "mine.csv", "--separator", "|", "--json", "-o", "a/picture.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rows"] == {"rows": 3}
    assert found["classes"] == 4
    assert found["most frequent"]["politics"] == 2
    assert (tmp_path / "a" / "picture.svg").read_text().startswith("<?xml")


def test_names_with_marks_of_other_languages_are_shown_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("x,labels\n1,a[/y]/b$\\foo$\n2,a[/y]\n")
    done = run("show", "mine.csv", "--path-separator", "/b", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a[/y] 2" in done.stdout


@needs_files
def test_a_file_that_is_not_verified_is_marked(tmp_path: Path) -> None:
    other = shapes.data_folder() / "datasets_FUN" / "eisen_FUN" / "eisen_FUN.valid.arff"
    arguments = ("show", "eisen_FUN", "--train", str(other), "--data-dir", str(shapes.data_folder()), "--json")
    found = json.loads(run(*arguments, cwd=tmp_path).stdout)
    assert found["name"] == "eisen_FUN (not verified)"
    assert found["not verified"] == [str(other)]
    assert found["rows"]["train"] == 529


def test_help_shows_examples(tmp_path: Path) -> None:
    assert "chmcnn datasets show digits" in run("show", "--help", cwd=tmp_path).stdout
    assert "chmcnn datasets fetch --all" in run("fetch", "--help", cwd=tmp_path).stdout

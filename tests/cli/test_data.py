"""The tables that commands read: the file's ending says what it is, for every command alike."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.inside import run

from chmcnn.cli._table import TableOptions

pytestmark = pytest.mark.usefixtures("without_pictures")
HEADER = """@RELATION animals
@ATTRIBUTE size numeric
@ATTRIBUTE zone {north,south}
@ATTRIBUTE class hierarchical animal,animal/dog,animal/cat
@DATA
"""


@pytest.fixture(scope="module")
def arff_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arff")
    random = np.random.default_rng(0)
    rows = [
        f"{sign * 3 + random.normal(0, 0.3):.3f},{random.choice(['north', 'south'])},animal/{name}"
        for sign, name in zip((1, -1) * 30, ("dog", "cat") * 30, strict=True)
    ]
    content = "\n".join([HEADER + rows[0], *rows[1:], ""])
    for name in ("t.arff", "t.ARFF"):
        (folder / name).write_text(content)
    (folder / "t.arff.gz").write_bytes(gzip.compress(content.encode()))
    return folder


@pytest.mark.parametrize("name", ["t.arff", "t.ARFF", "t.arff.gz"])
def test_every_command_reads_arff_under_every_name(arff_folder: Path, name: str) -> None:
    model = f"model of {name}"
    for arguments in (
        ("train", name, "-o", model, "--width", "16", "--epochs", "3", "--quiet"),
        ("predict", model, name),
        ("evaluate", model, name, "--quiet"),
    ):
        done = run(*arguments, cwd=arff_folder)
        assert done.returncode == 0, done.stderr


def test_options_that_do_not_apply_to_arff_are_refused(arff_folder: Path) -> None:
    done = run("train", "t.arff", "-o", "other", "--id-column", "size", cwd=arff_folder)
    assert done.returncode != 0
    assert "t.arff: the file itself says which columns are labels" in done.stderr


def test_too_few_rows_to_hold_some_out_are_told_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("x,labels\n1,a/b\n2,c\n")
    done = run("train", "two.csv", "--labels", "labels", "-o", "model", cwd=tmp_path)
    assert done.returncode == 2
    assert "two.csv: 2 rows cannot be split" in done.stderr
    assert "Use --test-share 0" in done.stderr
    assert not (tmp_path / "model").exists()


TRAINING = ("--epochs", "1", "--width", "4")


@pytest.mark.parametrize(
    "words",
    [
        ("train", *TRAINING, "-o", "{}/model"),
        ("search", *TRAINING, "--trials", "1", "--space", "space.json", "-o", "{}/search"),
        ("compare", "--systems", "Neighbours,KernelRidge", "--seeds", "1", "--jobs", "1", "-o", "{}/compared"),
    ],
)
def test_rows_without_labels_are_told_on_standard_error(folder: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    (folder / "space.json").write_text('{"dropout": [0.5]}')
    rows = (folder / "my.csv").read_text().splitlines()
    bare = [row.rpartition(",")[0] + "," for row in rows[1:31]]
    (folder / "some.csv").write_text("\n".join([rows[0], *bare, *rows[31:], ""]))
    command, *options = (word.format(tmp_path) for word in words)
    table = ("--hierarchy", "edges.csv", "--id-column", "name", "--categorical", "zone")
    done = run(command, "some.csv", *table, *options, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    told = "30 of 120 rows of some.csv have no label: such rows count as rows without any class."
    assert done.stderr.splitlines().count(told) == 1


@pytest.mark.parametrize(("rows", "told"), [("1,\n2,b\n", "1 of 2 rows of t.csv has no label: "), ("1,a\n2,b\n", "")])
def test_one_row_without_labels_and_none(tmp_path: Path, rows: str, told: str) -> None:
    (tmp_path / "t.csv").write_text(f"size,labels\n{rows}")
    (tmp_path / "edges.csv").write_text("parent,child\nb,a\n")
    notices: list[str] = []
    TableOptions(hierarchy=tmp_path / "edges.csv").read(tmp_path / "t.csv", notify=notices.append)
    assert [notice.replace(f"{tmp_path}/", "")[: len(told)] for notice in notices] == ([told] if told else [])

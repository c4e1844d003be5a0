"""Tables with text through every command, and the names of rows that a model remembers."""

from pathlib import Path

import pandas as pd
import pytest
from tests.cli.inside import run
from tests.estimator.texts import LABELS, TABLE

pytestmark = pytest.mark.usefixtures("without_pictures")
LABEL_OPTIONS = ("--path-separator", ">", "--id-column", "sku")
QUICK = ("--width", "8", "--epochs", "2")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of products, and a model of it."""
    folder = tmp_path_factory.mktemp("shop")
    table = TABLE.assign(labels=LABELS).sample(frac=1, random_state=0)
    table.to_csv(folder / "products.csv")
    table.iloc[:3].drop(columns="labels").assign(note=["a", "b", "c"]).to_csv(folder / "new.csv")
    table.iloc[:3].drop(columns="labels").to_csv(folder / "unnamed.csv", index=False)
    done = run("train", "products.csv", *LABEL_OPTIONS, *QUICK, "-o", "model", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "'title' has running text, which becomes TF-IDF; use --categorical if it has categories." in done.stderr
    return folder


def test_every_command_reads_text(place: Path) -> None:
    (place / "space.json").write_text('{"widths": [[4]]}')
    systems = ("--systems", "C-HMCNN,Clus-HMC", "--option", "C-HMCNN:epochs=1")
    for arguments in (
        ("predict", "model", "new.csv"),
        ("evaluate", "model", "products.csv", "--quiet"),
        ("explain", "model", "new.csv"),
        ("search", "products.csv", *LABEL_OPTIONS, *QUICK[2:], "--trials", "1", "--space", "space.json"),
        ("compare", "products.csv", *LABEL_OPTIONS, "--seeds", "1", "--jobs", "1", *systems),
    ):
        done = run(*arguments, cwd=place)
        assert done.returncode == 0, done.stderr
        if arguments[0] in ("search", "compare"):
            assert "'title' has running text" in done.stderr


def test_the_model_remembers_the_column_of_names(place: Path) -> None:
    done = run("predict", "model", "new.csv", "--labels", cwd=place)
    assert done.stdout.splitlines()[0] == "sku,labels"
    assert [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == pd.read_csv(place / "new.csv")[
        "sku"
    ].tolist()
    for command in ("predict", "explain"):
        done = run(command, "model", "unnamed.csv", cwd=place)
        assert done.returncode == 2
        assert "unnamed.csv has no column 'sku', which had the names of the rows in training; name another with" in (
            done.stderr
        )
        assert run(command, "model", "unnamed.csv", "--id-column", "", cwd=place).returncode == 0
    done = run("predict", "model", "new.csv", "--id-column", "note", "--labels", cwd=place)
    assert done.stdout.startswith("note,labels\n")
    done = run("predict", "model", "new.csv", "--id-column", "xyz", cwd=place)
    assert "there is no column 'xyz'; --id-column names it" in done.stderr


def test_evaluation_needs_no_names(place: Path) -> None:
    frame = pd.read_csv(place / "products.csv").drop(columns="sku").assign(other=[f"x{row}" for row in range(80)])
    frame.to_csv(place / "other.csv", index=False)
    done = run("evaluate", "model", "other.csv", "--quiet", cwd=place)
    assert done.returncode == 0, done.stderr


def test_columns_can_be_named(place: Path) -> None:
    options = (*LABEL_OPTIONS, *QUICK, "--test-share", "0", "--text", "shop", "--categorical", "title", "--quiet")
    done = run("train", "products.csv", *options, "-o", "other", cwd=place)
    assert done.returncode == 0, done.stderr
    assert run("predict", "other", "new.csv", cwd=place).returncode == 0
    done = run("train", "products.csv", *LABEL_OPTIONS, "--text", "titel", "-o", "third", cwd=place)
    assert "there is no column 'titel'; did you mean 'title'? --text names it" in done.stderr
    assert not (place / "third").exists()


def test_another_table_to_test_on_has_the_same_kinds(place: Path) -> None:
    few = pd.read_csv(place / "products.csv").iloc[:8].assign(title="ball")
    few.to_csv(place / "few.csv", index=False)
    options = (*LABEL_OPTIONS, *QUICK, "--test", "few.csv", "--quiet")
    done = run("train", "products.csv", *options, "-o", "tested", cwd=place)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"sku,price,day,shop\nn1,1,2026-01-01,north\n", "there is no column 'title'; the features need it"),
        (
            "sku,price,title,day,shop\nn1,1,gr\xfcn,2026-01-01,north\n".encode("latin-1"),
            "line 2, column 8: the file is not",
        ),
        (
            b"sku,price,title,day,shop\nn1,one,red,2026-01-01,north\n",
            "bad.csv: column 'price' has categories, such",
        ),
        (b"sku,price,title,day,shop\nn1,1,red,soon,north\n", "Column 'day' had dates in fit"),
    ],
)
def test_tables_that_the_model_cannot_read_are_told(place: Path, content: bytes, told: str) -> None:
    (place / "bad.csv").write_bytes(content)
    done = run("predict", "model", "bad.csv", "-o", "scores.csv", cwd=place)
    assert done.returncode == 2
    assert told in done.stderr
    assert not (place / "scores.csv").exists()


@pytest.mark.parametrize("title", ["", "racket", "42", "NA", '"a, ""b"""'])
def test_any_text_can_be_predicted(place: Path, title: str) -> None:
    (place / "one.csv").write_text(f"sku,price,title,day,shop\nn1,1,{title},2026-01-01,north\n")
    done = run("predict", "model", "one.csv", "--labels", cwd=place)
    assert done.returncode == 0, done.stderr


def test_labels_without_the_separator_are_refused(place: Path) -> None:
    done = run("train", "products.csv", "-o", "third", cwd=place)
    assert done.returncode == 2
    assert "seems to be '>', so pass --path-separator '>'; otherwise pass --hierarchy" in done.stderr

"""Commands take sparse tables: svmlight files, and matrices of scipy with their labels in another file."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from tests.cli.inside import run

pytestmark = pytest.mark.usefixtures("without_pictures")
HIERARCHY = "parent,child\n1,2\n1,3\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sparse")
    random = np.random.default_rng(0)
    kinds = random.choice([2, 3], 80)
    lines = [f"{kind} {kind}:1 {random.integers(5, 9)}:{random.random():.3f}" for kind in kinds]
    (folder / "my.svm").write_text("\n".join(lines))
    (folder / "new.svm").write_text("2:1\n3:1\n")
    (folder / "edges.csv").write_text(HIERARCHY)
    matrix = sparse.csr_array(np.eye(9)[kinds])
    sparse.save_npz(folder / "my.npz", matrix)
    sparse.save_npz(folder / "labels.npz", sparse.csr_array(np.eye(3, dtype=bool)[kinds - 1]))
    done = run("train", "my.svm", "--hierarchy", "edges.csv", "-o", "model", "--epochs", "20", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_model_of_sparse_features_predicts_a_file_with_fewer_of_them(place: Path) -> None:
    done = run("predict", "model", "new.svm", "--most-specific", cwd=place)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["row,labels", "0,2", "1,3"]
    (place / "more.svm").write_text("99:1\n")
    done = run("predict", "model", "more.svm", cwd=place)
    assert done.returncode == 2
    assert "more.svm: row 1 has feature 99, but there are 9 features" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "evaluate model my.svm",
        "train my.npz --label-file labels.npz --hierarchy edges.csv -o other --epochs 2",
        "train my.svm --test my.svm --hierarchy edges.csv -o tested --epochs 2",
        "compare my.svm --hierarchy edges.csv --systems C-HMCNN,h+ --folds 2 --option all:epochs=2 -o compared",
        "search my.svm --hierarchy edges.csv --trials 1 --epochs 1 -o searched",
        "datasets show my.svm --hierarchy edges.csv -o shown.png",
        "explain model new.svm --row 0",
    ],
)
def test_every_command_takes_sparse_tables(place: Path, words: str) -> None:
    done = run(*words.split(), cwd=place)
    assert done.returncode == 0, done.stderr


def test_labels_in_another_file_are_asked_for(place: Path) -> None:
    done = run("train", "my.npz", "--hierarchy", "edges.csv", "-o", "none", cwd=place)
    assert done.returncode == 2
    assert "the matrix has features only: name the file with the labels in --label-file" in done.stderr
    done = run("evaluate", "model", "my.npz", "--label-file", "labels.npz", cwd=place)
    assert done.returncode == 0, done.stderr

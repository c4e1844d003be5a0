"""`chmcnn sign`, `chmcnn create-key` and `--verify-key`."""

import shutil
from pathlib import Path

import pytest
from tests.cli.inside import run

from chmcnn import ModelError
from chmcnn.cli import _row_groups
from chmcnn.cli._answers import AnswerOptions
from chmcnn.cli._options import LoadingOptions
from chmcnn.cli._table import TableOptions
from chmcnn.datasets.row_groups import RowGroup


@pytest.fixture
def place(folder: Path, tmp_path: Path) -> Path:
    """A folder with a signed model, its keys, and rows."""
    shutil.copytree(folder / "model", tmp_path / "model")
    shutil.copy(folder / "new.csv", tmp_path / "new.csv")
    assert run("create-key", "private.pem", "public.pem", cwd=tmp_path).returncode == 0
    assert run("sign", "model", "--key", "private.pem", cwd=tmp_path).stderr == "model is signed.\n"
    return tmp_path


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain", "serve"])
def test_a_model_without_the_signature_is_refused_by_all_commands(place: Path, command: str) -> None:
    (place / "model" / "model.json.sig").unlink()
    words = ["model", *(["new.csv"] if command != "serve" else []), "--verify-key", "public.pem"]
    done = run(command, *words, cwd=place)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "chmcnn: model: the model is not signed: it has no model.json.sig, which --verify-key"
    )


def test_a_signed_model_predicts(place: Path) -> None:
    done = run("predict", "model", "new.csv", "--verify-key", "public.pem", "--id-column", "name", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    again = run("create-key", "private.pem", "public.pem", cwd=place)
    assert again.stderr.startswith("chmcnn: private.pem: already exists, and a key is never overwritten")


def test_a_worker_verifies_the_model_that_it_is_sent(place: Path) -> None:
    loading = LoadingOptions(verify_key=place / "public.pem")
    request = _row_groups.Request(AnswerOptions(), TableOptions(), loading)
    files = {**_row_groups._read_model(place / "model"), **_row_groups._read_key(request)}
    assert files[_row_groups._KEY] == (place / "public.pem").read_bytes()
    files["model.json"] = bytes(files["model.json"]).replace(b"seed", b"sEEd")
    group = RowGroup(place / "rows.parquet", 0, 0, 1)  # which is not read any more
    with pytest.raises(ModelError, match="the signature does not fit"):
        _row_groups.predict_remotely(files, b"", group, request)

"""The examples run as programs."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.processes import run_program

ROOT = Path(__file__).parents[2]
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))}


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "no result" not in done.stdout


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - {"own_system", "encode"}))
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    check(run_program(EXAMPLES[name], cwd=tmp_path))


def test_an_example_whose_workers_import_it_runs_from_a_shell(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error::UserWarning", str(EXAMPLES["own_system"])]
    check(subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False))


class LengthEncoder:
    """In the place of an encoder, whose weights would have to be downloaded."""

    created = 0

    def __init__(self, name: str) -> None:
        assert name == "all-MiniLM-L6-v2"
        LengthEncoder.created += 1

    def encode(self, texts: list[str], *, show_progress_bar: bool) -> np.ndarray:
        assert show_progress_bar
        return np.array([[len(text), -len(text)] for text in texts], dtype=np.float32)


TABLE = """id,title,code,labels
007,a red hat of wool,NA,01/02
008,,1e3,None
"""


def encode(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    (folder / "table.csv").write_text(TABLE)
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=LengthEncoder))
    monkeypatch.setattr(sys, "argv", ["encode.py", *arguments])
    runpy.run_path(str(EXAMPLES["encode"]), run_name="__main__")


def test_the_numbers_of_an_encoder_are_columns_beside_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encode(tmp_path, monkeypatch, "table.csv", "title", "encoded.csv")
    expected = ["title 0,title 1", "17.0,-17.0", "0.0,0.0"]
    lines = [f"{line},{numbers}" for line, numbers in zip(TABLE.splitlines(), expected, strict=True)]
    assert (tmp_path / "encoded.csv").read_text().replace("-0.0", "0.0").splitlines() == lines


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("table.csv", "name", "encoded.csv"), "table.csv has no column 'name', but 'id', 'title', 'code', 'labels'."),
        (("table.csv",), "usage"),
        (("encoded.csv", "title", "again.csv"), "it is encoded already"),
    ],
)
def test_what_cannot_be_encoded_is_told_before_the_encoder_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "encoded.csv").write_text("title,title 0\na,1\n")
    before = LengthEncoder.created
    with pytest.raises(SystemExit, match=re.escape(reason)):
        encode(tmp_path, monkeypatch, *arguments)
    assert LengthEncoder.created == before
    assert not (tmp_path / "again.csv").exists()

"""The examples run as programs."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.processes import run_program

from chmcnn.datasets import Preprocessor, read_table

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

    def __init__(self, name: str) -> None:
        assert name == "all-MiniLM-L6-v2"

    def encode(self, texts: list[str], *, show_progress_bar: bool) -> np.ndarray:
        assert show_progress_bar
        return np.array([[len(text), -len(text)] for text in texts], dtype=np.float32)


def encode(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=LengthEncoder))
    monkeypatch.setattr(sys, "argv", ["encode.py", *map(str, arguments)])
    runpy.run_path(str(EXAMPLES["encode"]), run_name="__main__")


def test_the_numbers_of_an_encoder_are_columns_beside_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = ROOT / "examples" / "data" / "applications.csv", tmp_path / "encoded.csv"
    encode(monkeypatch, source, "description", target)
    before, after = pd.read_csv(source), pd.read_csv(target)
    pd.testing.assert_frame_equal(after[before.columns], before)
    assert after["description 0"].tolist() == before["description"].str.len().tolist()
    table = read_table(target, labels="categories", path_separator=">", id_column="package")
    kinds = Preprocessor().fit(table.X).list_kinds()
    assert kinds == {"description": "text", **dict.fromkeys(["size", "description 0", "description 1"], "numbers")}


def test_a_column_that_is_not_there_is_named_before_anything_is_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = ROOT / "examples" / "data" / "applications.csv", tmp_path / "encoded.csv"
    with pytest.raises(SystemExit, match="has no column 'title', but 'package', 'description'"):
        encode(monkeypatch, source, "title", target)
    with pytest.raises(SystemExit, match="usage"):
        encode(monkeypatch, source)
    assert not target.exists()

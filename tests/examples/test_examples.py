"""The examples run as programs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes import run_program

ROOT = Path(__file__).parents[2]
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))}


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "no result" not in done.stdout


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - {"own_system"}))
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    check(run_program(EXAMPLES[name], cwd=tmp_path))


def test_an_example_whose_workers_import_it_runs_from_a_shell(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error::UserWarning", str(EXAMPLES["own_system"])]
    check(subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False))

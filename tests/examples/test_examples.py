"""Every script in examples/ runs, as a user runs it, and prints what its guide says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
PRINTS = {
    "products.py": ["AU(PRC) on 214 new applications: 0.6", "game>board>chess", "mail>filters", "field>biology"],
}
"""Parts of what a script prints."""


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda script: script.name)
def test_an_example_runs(script: Path, tmp_path: Path) -> None:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    for part in PRINTS.get(script.name, ()):
        assert part in done.stdout

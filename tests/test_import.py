"""What a user waits for before anything happens."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHMCNN = str(Path(sys.executable).with_name("chmcnn"))


@pytest.mark.parametrize(
    "command", [[CHMCNN, "--help"], [sys.executable, "-c", "import chmcnn"]], ids=["help", "import"]
)
def test_it_starts_within_half_a_second(command: list[str]) -> None:
    def seconds() -> float:
        """Processor time, which others on a busy machine have no part in."""
        before = os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(seconds() for _ in range(5)) < 0.5


def test_torch_is_imported_only_where_it_is_used() -> None:
    code = (
        "import sys, chmcnn.cli, chmcnn.datasets; heavy = 'torch scipy matplotlib networkx pandas sklearn requests'; "
        "print([name for name in heavy.split() if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

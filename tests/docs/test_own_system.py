"""The tutorial on systems of one's own: its files, programs and commands work, and its table lists every measure."""

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.inside import run
from tests.processes import run_program

from chmcnn.metrics import MEASURE_NAMES, find_measure

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "tutorials" / "own_system.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a user who follows the guide."""
    place = tmp_path_factory.mktemp("guide")
    (place / "my_system.py").write_text(blocks("python")[0])
    (place / "program.py").write_text(blocks("python")[1])
    return place


def test_the_commands_work(folder: Path) -> None:
    for command in blocks("sh"):
        done = run(*shlex.split(command)[1:], "--quiet", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "no result" not in done.stdout
    assert "my neighbours" in done.stdout
    assert "top_error ↓" in done.stdout


def test_the_program_works(folder: Path) -> None:
    done = run_program(folder / "program.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "my neighbours" in done.stdout


def test_the_table_lists_every_measure() -> None:
    measures = [find_measure(name) for name in MEASURE_NAMES]
    rows = [
        f"| `{measure.name}` | {measure.title} | {'higher' if measure.higher_is_better else 'lower'} | {measure.help} |"
        for measure in measures
    ]
    shown = GUIDE.split("| --- | --- | --- | --- |\n")[1].split("\n\n")[0]
    assert shown.splitlines() == rows

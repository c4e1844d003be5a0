"""The guide to genes: its commands are those that a user copies."""

import re
import shlex
from pathlib import Path

from tests.cli.inside import run

ROOT = Path(__file__).parents[2]


def test_the_commands_of_the_guide(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    guide = (ROOT / "docs" / "guides" / "genes.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", guide, re.DOTALL)
    trained, predicted, explained, exported = [
        run(*shlex.split(line)[1:], cwd=tmp_path) for block in blocks for line in block.splitlines()
    ]
    for done in (trained, predicted, explained, exported):
        assert done.returncode == 0, done.stderr
    notice = re.search(r"```\n(examples/.*?)```", guide, re.DOTALL)
    assert notice
    assert notice[1] in trained.stderr
    rows = dict(line.split(",") for line in predicted.stdout.splitlines()[1:])
    assert {gene: set(terms.split(";")) & LEAVES for gene, terms in rows.items()} == EXPECTED
    assert (tmp_path / "build" / "exported.hierarchy.json").is_file()
    assert "GO:0045333 cellular respiration  0." in explained.stdout


LEAVES = {"GO:0030163", "GO:0000502", "GO:0045333", "GO:0006412", "GO:0005840"}
EXPECTED = {
    "YOR362C": {"GO:0030163", "GO:0000502"},
    "YOR157C": {"GO:0030163", "GO:0000502"},
    "YKL016C": {"GO:0045333"},
    "YJL166W": {"GO:0045333"},
    "YDR447C": {"GO:0006412", "GO:0005840"},
    "YKR094C": {"GO:0006412", "GO:0005840"},
}
"""The classes of the new genes in Brown et al. (2000)."""

"""The guides and tutorials do what they say."""

from pathlib import Path

import pytest

from tests.guides import run_guide

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUIDES = [
    path
    for path in (DOCS / "start.md", *sorted(DOCS.glob("guides/*.md")), *sorted(DOCS.glob("tutorials/*.md")))
    if path.stem != "own_system"
]
"""All but the one whose programs need processes of their own: tests/docs/test_own_system.py runs it."""


@pytest.mark.usefixtures("one_table_of_operators", "one_reading_of_revisions")
@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_a_guide_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No guide shows the pictures in the page of a training, and it takes a second to render them.
    monkeypatch.setattr("chmcnn.report.training_page.inline", lambda _figure: "data:,")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert run_guide(path, tmp_path) > 0


GOOD = """```csv pets.csv
name,size
```
```python
>>> from pathlib import Path
>>> text = Path("pets.csv").read_text()
```
```python
Path("copy.csv").write_text(text)
```
```sh
pip install chmcnn   # not here
chmcnn datasets list \\
    --json > list.json
```
```console
$ chmcnn --version
chmcnn ...
$ chmcnn train no.csv
chmcnn: no.csv: the file does not exist...
```
"""


def test_blocks_run_in_order_and_share_a_folder(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GOOD)
    folder = tmp_path / "run"
    folder.mkdir()
    assert run_guide(tmp_path / "guide.md", folder) == 5
    assert (folder / "copy.csv").read_text() == "name,size\n"
    assert "cellcycle_FUN" in (folder / "list.json").read_text()


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("```sh\nchmcnn train no.csv\n```\n", "guide.md, line 1: chmcnn train no.csv\nchmcnn: no.csv: the file"),
        ("\n```sh\nrm x\n```\n", "guide.md, line 2: 'rm x' is not a chmcnn command"),
        ("```console\n$ chmcnn --version\nother\n```\n", "expected:\nother"),
        ("```python\n>>> 1 + 1\n3\n```\n", "Expected:\n    3\nGot:\n    2"),
    ],
)
def test_what_a_guide_says_wrongly_is_told(tmp_path: Path, block: str, told: str) -> None:
    (tmp_path / "guide.md").write_text(block)
    with pytest.raises(AssertionError) as caught:
        run_guide(tmp_path / "guide.md", tmp_path)
    assert told in str(caught.value)

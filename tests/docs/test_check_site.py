"""What `make docs` refuses in built pages."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
check = runpy.run_path(str(ROOT / "docs" / "_extensions" / "check_site.py"))["check"]


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="other.html#there">', None),
        ('<a href="#here"><p id="here">', None),
        ('<a href="https://arxiv.org">', None),
        ('<a href="other.html#nowhere">', "page.html links to other.html#nowhere, which does not exist"),
        ('<a href="lost.html">', "page.html links to lost.html, which does not exist"),
        ('<img src="lost.png">', "page.html links to lost.png, which does not exist"),
        ('<script src="https://example.org/a.js">', "page.html loads https://example.org/a.js from elsewhere"),
    ],
)
def test_a_link_without_a_target_and_a_file_from_elsewhere_are_faults(
    tmp_path: Path, page: str, fault: str | None
) -> None:
    (tmp_path / "page.html").write_text(page)
    (tmp_path / "other.html").write_text('<p id="there">')
    assert check(tmp_path) == ([fault] if fault else [])

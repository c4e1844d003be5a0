"""The README cites what CITATION.cff cites, in the version of the package."""

import re
from pathlib import Path

import chmcnn

ROOT = Path(__file__).parents[1]


def read_bibtex() -> dict[str, dict[str, str]]:
    """Return the entries of the README by kind; braces around a name are left out."""
    block = re.search(r"```bibtex\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block
    entries = re.findall(r"@(\w+)\{\w+,\n(.*?)\n\}", block[1], re.DOTALL)
    fields = {kind: re.findall(r"(\w+) *= \{+(.*?)\}+,?$", body, re.MULTILINE) for kind, body in entries}
    return {kind: dict(pairs) for kind, pairs in fields.items()}


def read_cff() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the values of the software and of the paper by key; the file has one value in a line."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    parts = []
    for part in text.split("preferred-citation:\n"):
        values: dict[str, list[str]] = {}
        for key, value in re.findall(r"^[ -]*([\w-]+): (.+)$", part, re.MULTILINE):
            values.setdefault(key, []).append(value)
        parts.append(values)
    software, paper = parts
    return software, paper


def test_the_software() -> None:
    entry, (software, _) = read_bibtex()["software"], read_cff()
    assert [entry["title"]] == software["title"] == ["chmcnn"]
    assert [entry["author"]] == software["name"]
    assert [entry["version"]] == software["version"] == [chmcnn.__version__]


def test_the_paper() -> None:
    entry, (_, paper) = read_bibtex()["inproceedings"], read_cff()
    assert [entry["title"]] == paper["title"]
    names = zip(paper["family-names"], paper["given-names"], strict=True)
    assert entry["author"] == " and ".join(f"{family}, {given}" for family, given in names)
    assert [entry["booktitle"]] == paper["collection-title"]
    assert ([entry["volume"]], [entry["year"]]) == (paper["volume"], paper["year"])

import gzip
from pathlib import Path

import pytest

from chmcnn import FileError, Hierarchy
from chmcnn.datasets import read_hierarchy

ANIMALS = Hierarchy.from_edges([("animal", "dog"), ("pet", "dog")])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("edges.csv", "parent,child\nanimal,dog\npet,dog\n"),
        ("edges.tsv", "parent\tchild\nanimal\tdog\npet\tdog\n"),
        ("edges.csv.gz", "parent,child\nanimal,dog\npet,dog\n"),
        ("edges.json", ANIMALS.to_json()),
        ("edges.obo", "[Term]\nid: animal\n[Term]\nid: pet\n[Term]\nid: dog\nis_a: animal\nis_a: pet\n"),
    ],
)
def test_the_ending_says_what_a_file_is(tmp_path: Path, name: str, text: str) -> None:
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert read_hierarchy(tmp_path / name) == ANIMALS


def test_arff_has_one_in_its_header(tmp_path: Path) -> None:
    (tmp_path / "a.arff").write_text("@RELATION r\n@ATTRIBUTE class hierarchical root/a,a/b\n@DATA\n")
    assert read_hierarchy(tmp_path / "a.arff").classes == ("a", "b", "root")


def test_bad_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"no\.csv: the file of the hierarchy does not exist"):
        read_hierarchy(tmp_path / "no.csv")
    (tmp_path / "a.xml").write_text("")
    with pytest.raises(FileError, match=r"unknown ending '\.xml'; expected one of \.csv, .*, \.obo, \.json"):
        read_hierarchy(tmp_path / "a.xml")
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(FileError, match=r"a\.json: The text of the hierarchy is not valid JSON"):
        read_hierarchy(tmp_path / "a.json")
    (tmp_path / "a.csv").write_text("parent,child\na,b\nb,a\n")
    with pytest.raises(FileError, match=r"a\.csv: .*cycle, from parent to child: a -> b -> a\. Remove one of them\.$"):
        read_hierarchy(tmp_path / "a.csv")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"parent,child\na,b\n")[:-4])
    with pytest.raises(FileError, match=r"a\.csv\.gz: line 3: the file is not a complete gzip file") as caught:
        read_hierarchy(tmp_path / "a.csv.gz")
    assert str(caught.value).count("a.csv.gz") == 1

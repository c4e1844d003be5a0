from pathlib import Path

import pytest

from chmcnn import ArffError
from chmcnn.datasets.arff import read_hierarchy


def write(folder: Path, attribute: str) -> Path:
    file = folder / "data.arff"
    file.write_text(f"@RELATION r\n@ATTRIBUTE a numeric\n{attribute}\n@DATA\n1,x\n", encoding="utf-8")
    return file


def test_a_tree_gets_a_root(tmp_path: Path) -> None:
    hierarchy = read_hierarchy(write(tmp_path, "@attribute class   Hierarchical 01,01/04,01/04/02,02"))
    assert hierarchy.roots == ("root",)
    assert hierarchy.parents("01/04/02") == ("01/04",)
    assert hierarchy.children("root") == ("01", "02")


def test_a_tree_may_have_a_root_already(tmp_path: Path) -> None:
    hierarchy = read_hierarchy(write(tmp_path, "@ATTRIBUTE class hierarchical root,root/a,b"))
    assert hierarchy.classes == ("b", "root", "root/a")
    assert hierarchy.children("root") == ("b", "root/a")


def test_a_dag_is_given_by_its_edges(tmp_path: Path) -> None:
    hierarchy = read_hierarchy(write(tmp_path, "@ATTRIBUTE 'the class' hierarchical root/a,root/b,a/c,b/c"))
    assert hierarchy.parents("c") == ("a", "b")
    assert hierarchy.roots == ("root",)


BAD = {
    "no class": ("@ATTRIBUTE b numeric", "line 4, column 1: no attribute is hierarchical"),
    "two classes": (
        "@ATTRIBUTE c hierarchical a\n@ATTRIBUTE d hierarchical a",
        "line 4, column 26: 'd' is a second hierarchical attribute",
    ),
    "cycle": ("@ATTRIBUTE c hierarchical root/a,a/b,b/a", "line 3, column 26: attribute 'c': The edges form a cycle"),
    "empty class": ("@ATTRIBUTE c hierarchical a,,b", "line 3, column 26: attribute 'c': Path '' is not"),
    "unknown type": ("@ATTRIBUTE c string", "line 3, column 14: attribute 'c' is of type 'string'; expected numeric"),
    "no type": ("@ATTRIBUTE c", "line 3, column 13: attribute 'c' is of type ''; expected numeric"),
    "no name": ("@ATTRIBUTE", "line 3, column 11: expected the name of an attribute"),
    "value twice": ("@ATTRIBUTE c {a,b,a}", "line 3, column 14: the values .* have a duplicate"),
    "open quote": ("@ATTRIBUTE c {'a,b}", "line 3, column 15: a quote is not closed"),
    "unknown line": ("@INCLUDE x", "line 3, column 1: expected @RELATION, @ATTRIBUTE or @DATA, but found '@INCLUDE x'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_headers_are_refused(case: str, tmp_path: Path) -> None:
    attribute, message = BAD[case]
    with pytest.raises(ArffError, match=rf"data\.arff, {message}"):
        read_hierarchy(write(tmp_path, attribute))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1, column 1: there is no @DATA"),
        (b"@RELATION r\n", "line 2, column 1: there is no @DATA"),
        (b"@RELATION r\n@ATTRIBUTE \xff", "line 2, column 12: the file is not text in UTF-8"),
        (b"@RELATION r\n\n\x00", "line 3, column 1: the file is not text: it contains a zero byte"),
    ],
)
def test_what_is_no_arff_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.arff").write_bytes(content)
    with pytest.raises(ArffError, match=rf"x\.arff, {message}"):
        read_hierarchy(tmp_path / "x.arff")

from pathlib import Path

import pytest

from chmcnn import ChmcnnError
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


def test_a_dag_is_given_by_its_edges(tmp_path: Path) -> None:
    hierarchy = read_hierarchy(write(tmp_path, "@ATTRIBUTE 'the class' hierarchical root/a,root/b,a/c,b/c"))
    assert hierarchy.parents("c") == ("a", "b")
    assert hierarchy.roots == ("root",)


def test_a_file_without_classes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChmcnnError, match="has no hierarchical attribute before @data"):
        read_hierarchy(write(tmp_path, "@ATTRIBUTE b numeric"))

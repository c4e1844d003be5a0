"""Information accretion, and annotations that were known before."""

import gzip
from pathlib import Path

import pytest

from chmcnn import Hierarchy
from chmcnn.datasets import read_information, read_known
from chmcnn.errors import TableError

TREE = Hierarchy.from_edges([("a", "b"), ("a", "c")])


def write(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "my.tsv"
    path.write_text(content)
    return path


def test_information_is_read_in_the_order_of_the_classes(tmp_path: Path) -> None:
    path = write(tmp_path, "# mine\nc\t2.5\n\nz\t9\nb 1\na\t0.0\n")
    assert read_information(path, TREE).tolist() == [0, 1, 2.5]
    packed = tmp_path / "IA.tsv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_information(packed, TREE).tolist() == [0, 1, 2.5]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a\tx\n", r"my.tsv, line 1: the information of 'a' is 'x'; expected a number from 0"),
        ("a\t-1\n", r"my.tsv, line 1: the information of 'a' is '-1'"),
        ("a\tinf\n", r"the information of 'a' is 'inf'"),
        ("a\t1\nb\n", r"my.tsv, line 2: the line is 'b'; expected a class and a number"),
        ("z\t1\n", "the file has none of the 3 classes of the hierarchy"),
        ("a\t1\n", r"the file has no value for 'b' and 1 other class; add them, or pass missing=0"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(TableError, match=told):
        read_information(write(tmp_path, content), TREE)


def test_missing_classes_have_the_value_that_was_asked_for(tmp_path: Path) -> None:
    assert read_information(write(tmp_path, "a\t1\n"), TREE, missing=0).tolist() == [1, 0, 0]
    with pytest.raises(TableError, match="cannot be read: No such file"):
        read_information(tmp_path / "none.tsv", TREE)


def test_known_annotations_are_matched_by_id_with_their_ancestors(tmp_path: Path) -> None:
    known = read_known(write(tmp_path, "P2\tb\tBPO\nP2\tz\nP9\tc\n"), ["P1", "P2", "P2"], TREE)
    assert known.toarray().astype(int).tolist() == [[0, 0, 0], [1, 1, 0], [1, 1, 0]]
    with pytest.raises(TableError, match="the file has none of the 1 row, such as 'Q1'"):
        read_known(write(tmp_path, "P2\tb\n"), ["Q1"], TREE)

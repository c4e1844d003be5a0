import math
import re
from pathlib import Path
from unittest import mock

import arff as liac
import numpy as np
import pandas as pd
import pytest
from benchmarks import shapes

from chmcnn import ArffError
from chmcnn.datasets.arff import Arff, read, reader

EVERYTHING = """% made by hand
@relation 'a small file'

@ATTRIBUTE plain NUMERIC
@Attribute 'with a space'   real
@attribute 100%_\tinteger
@ATTRIBUTE "it's" {no, yes,'may, be'}
@ATTRIBUTE class hierarchical 1,1/1,1/2,2
@Data
1,-2.5e3,?,no,1/1@2
% a comment between rows

 .5 , +1. , 3 ,yes,1/2 % and one behind a row
?,0,0,?,?
"""


def read_text(folder: Path, text: str, *, newline: str = "\n") -> Arff:
    file = folder / "data.arff"
    file.write_bytes(text.replace("\n", newline).encode())
    return read(file)


def label_sets(found: Arff) -> list[set[str]]:
    return [set(labels) for labels in found.labels]


def by_cells(folder: Path, text: str) -> Arff:
    """Read without the quick way."""
    with mock.patch.object(reader, "read_plain", return_value=None):
        return read_text(folder, text)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_everything_that_a_file_may_have(tmp_path: Path, newline: str) -> None:
    for found in (read_text(tmp_path, EVERYTHING, newline=newline), by_cells(tmp_path, EVERYTHING)):
        assert found.relation == "a small file"
        assert found.is_tree
        assert found.hierarchy.roots == ("root",)
        assert list(found.features) == ["plain", "with a space", "100%_", "it's"]
        np.testing.assert_array_equal(found.features["plain"], [1, 0.5, math.nan])
        np.testing.assert_array_equal(found.features["with a space"], [-2500, 1, 0])
        np.testing.assert_array_equal(found.features["100%_"], [math.nan, 3, 0])
        assert found.features["it's"].cat.categories.tolist() == ["no", "yes", "may, be"]
        assert found.features["it's"].isna().tolist() == [False, False, True]
        assert label_sets(found) == [{"1/1", "2"}, {"1/2"}, set()]


def test_quotes_in_rows(tmp_path: Path) -> None:
    rows = """'1',2,3,'may, be',"1/1"\n1,2,3,'no' , '1/1@2'  % 'open\n"""
    found = read_text(tmp_path, EVERYTHING.split("@Data", maxsplit=1)[0] + "@Data\n" + rows)
    assert found.features["it's"].tolist() == ["may, be", "no"]
    assert label_sets(found) == [{"1/1"}, {"1/1", "2"}]


def test_sparse_rows(tmp_path: Path) -> None:
    rows = "{0 1.5, 3 'may, be', 4 1/1@2}\n{4 ?} % nothing\n{ 2 ?,4 2 }\n"
    found = read_text(tmp_path, EVERYTHING.split("@Data", maxsplit=1)[0] + "@Data\n" + rows)
    np.testing.assert_array_equal(found.features["plain"], [1.5, 0, 0])
    np.testing.assert_array_equal(found.features["100%_"], [0, 0, math.nan])
    assert found.features["it's"].tolist() == ["may, be", "no", "no"]
    assert label_sets(found) == [{"1/1", "2"}, set(), {"2"}]


def test_the_class_may_stand_anywhere(tmp_path: Path) -> None:
    text = "@RELATION r\n@ATTRIBUTE c hierarchical root/a,a/b\n@ATTRIBUTE x numeric\n@DATA\nb,1\n"
    for found in (read_text(tmp_path, text), by_cells(tmp_path, text)):
        assert not found.is_tree
        assert label_sets(found) == [{"b"}]
        assert found.features["x"].tolist() == [1]


def test_names_that_are_there_twice_are_numbered(tmp_path: Path) -> None:
    text = "@ATTRIBUTE a numeric\n@ATTRIBUTE a numeric\n@ATTRIBUTE c hierarchical 1\n@DATA\n1,2,1\n"
    assert read_text(tmp_path, text).features.to_dict("list") == {"a": [1], "a (2)": [2]}


HEAD = "@ATTRIBUTE x numeric\n@ATTRIBUTE kind {dog,cat}\n@ATTRIBUTE c hierarchical 1,1/1\n@DATA\n"
BAD = {
    "too few cells": ("1,dog\n", "line 5, column 3: the row has 2 cells, but the header has 3 attributes"),
    "too many cells": ("1,dog,1\n1,dog,1,1\n", "line 6, column 7: the row has 4 cells, but"),
    "no number": ("1,dog,1\n1x,dog,1\n", "line 6, column 1: '1x' in 'x' is not a finite number"),
    "no number in python's sense": ("1_0,dog,1\n", "line 5, column 1: '1_0' in 'x' is not"),
    "infinite": ("1,dog,1\ninf,dog,1\n", "line 6, column 1: 'inf' in 'x' is not a finite number"),
    "too large": ("1e999,dog,1\n", "line 5, column 1: '1e999' in 'x' is not a finite number"),
    "NaN": ("1,dog,1\nnan,dog,1\n", "line 6, column 1: 'nan' in 'x' is not a finite number"),
    "empty number": (",dog,1\n", "line 5, column 1: '' in 'x' is not a finite number"),
    "unknown value": ("1,dgo,1\n", "line 5, column 3: 'dgo' is not a value of 'kind'; did you mean 'dog'"),
    "unknown label": ("1,dog,1\n1,cat,1/1@1/9\n", "line 6, column 7: Unknown class '1/9'."),
    "empty label": ("1,dog,\n", "line 5, column 7: Unknown class ''"),
    "open quote": ("1,'dog,1\n", "line 5, column 3: a quote is not closed"),
    "something beside a quote": ("1,'dog'x,1\n", "line 5, column 3: a quote is not closed, or there is text beside"),
    "broken sparse row": ("{0 1, dog}\n", "line 5, column 6: the sparse row is malformed"),
    "open sparse row": ("{0 1\n", "line 5, column 2: the sparse row is malformed"),
    "sparse row with a tail": ("{2 1} 5\n", "line 5, column 6: there is text after the sparse row"),
    "position twice": ("{0 1, 0 2, 2 1}\n", "line 5, column 9: position 0 appears twice, or"),
    "position outside": ("{3 1}\n", "line 5, column 4: position 3 appears twice, or has no attribute"),
    "sparse row without a class": ("{0 1}\n", "line 5, column 1: the row has no 'c'; write \\?"),
    "no rows": ("% nothing\n", "column 1: there are no rows after @DATA"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_rows_are_refused_with_their_place(case: str, tmp_path: Path) -> None:
    rows, message = BAD[case]
    with pytest.raises(ArffError, match=message):
        read_text(tmp_path, HEAD + rows)


def benchmark_file(name: str) -> Path:
    path = shapes.data_folder() / name
    if not path.exists():
        pytest.skip("the files of the benchmark are not there")
    return path


COUNTS = {  # rows, attributes before the class, classes without the roots
    "datasets_FUN/cellcycle_FUN/cellcycle_FUN.train.arff": (1628, 77, 499),
    "datasets_FUN/seq_FUN/seq_FUN.valid.arff": (879, 478, 499),
    "datasets_FUN/expr_FUN/expr_FUN.test.arff": (1291, 551, 499),
    "datasets_GO/eisen_GO/eisen_GO.test.arff": (835, 79, 3570),
    "datasets_GO/spo_GO/spo_GO.train.arff": (1597, 80, 4116),
    "others/Diatoms_train.arff": (2065, 371, 398),
    "others/Enron_corr_trainvalid.arff": (988, 1001, 56),
    "others/ImCLEF07A_Train.arff": (10000, 80, 96),
    "others/ImCLEF07D_Test.arff": (1006, 80, 46),
}


@pytest.mark.parametrize("name", COUNTS)
def test_the_files_of_the_benchmark(name: str) -> None:
    found = read(benchmark_file(name))
    roots = {"root", "GO0003674", "GO0005575", "GO0008150"}
    assert (*found.features.shape, len(set(found.hierarchy) - roots)) == COUNTS[name]
    assert len(found.hierarchy.violations(found.hierarchy.encode(found.labels).astype(float))) == 0


def test_the_quick_way_agrees_with_the_slow_one() -> None:
    file = benchmark_file("datasets_GO/seq_GO/seq_GO.train.arff")
    quick = read(file)
    with mock.patch.object(reader, "read_plain", return_value=None):
        slow = read(file)
    pd.testing.assert_frame_equal(quick.features, slow.features)
    assert quick.labels == slow.labels


def test_it_agrees_with_liac_arff() -> None:
    file = benchmark_file("datasets_GO/seq_GO/seq_GO.valid.arff")
    pattern = r"(?im)^(@attribute\s+class\s+)hierarchical.*$"
    rows = liac.loads(re.sub(pattern, r"\1string", file.read_text(encoding="utf-8")))["data"]
    theirs = list(zip(*rows, strict=True))
    ours = read(file)
    for position, name in enumerate(ours.features):
        column = ours.features[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            assert [None if pd.isna(value) else value for value in column] == list(theirs[position])
        else:
            np.testing.assert_array_equal(column, np.array(theirs[position], dtype=float))
    assert ours.labels == tuple(frozenset(text.split("@")) for text in theirs[-1])


def test_a_file_is_shown_by_its_size(tmp_path: Path) -> None:
    assert repr(read_text(tmp_path, EVERYTHING)) == "Arff(3 rows, 4 features, 5 classes)"

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.datasets.tables import ANIMALS, PLAIN, refused, write

from chmcnn import Hierarchy
from chmcnn.datasets import read_features, read_table


def test_a_separator_after_the_last_label_is_no_label(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "size,labels\n1,dog;\n2,dog; cat ; \n3,\n"), ANIMALS)
    assert [*map(len, ANIMALS.decode(table.Y, most_specific=True))] == [1, 2, 0]


@pytest.mark.parametrize("form", ["csv", "tsv", "csv.gz", "bom", "crlf", "semicolon", "blank lines"])
def test_a_column_of_labels(tmp_path: Path, form: str) -> None:
    options: dict[str, Any] = {}
    name, text = "my.csv", PLAIN
    if form == "tsv":
        name, text = (
            "my.tsv",
            PLAIN.replace('"grey, dark"', "grey; dark").replace(",", "\t").replace("grey; ", "grey, "),
        )
    if form == "semicolon":
        text = PLAIN.replace("animal; pet", "animal|pet").replace('"grey, dark"', "grey- dark").replace(",", ";")
        text, options = text.replace("grey-", "grey,"), {"delimiter": ";", "separator": "|"}
    content = text.encode()
    if form == "csv.gz":
        name, content = "my.csv.gz", gzip.compress(content)
    content = {"bom": b"\xef\xbb\xbf" + content, "crlf": content.replace(b"\n", b"\r\n")}.get(form, content)
    if form == "blank lines":
        content = content.replace(b"Bo", b"\n\nBo") + b"\n"
    table = read_table(write(tmp_path, content, name), ANIMALS, id_column="name", **options)
    assert table.feature_names == ("size", "colour")
    assert table.X.index.tolist() == ["Rex", "Tom", "Nemo", "Bo"]
    np.testing.assert_array_equal(table.X["size"], [3.5, np.nan, 0.1, 2])
    assert table.X["colour"].cat.categories.tolist() == ["brown", "grey, dark"]
    assert table.X["colour"].isna().tolist() == [False, False, True, False]
    assert ANIMALS.decode(table.Y) == [{"animal", "pet", "dog"}, {"animal", "cat"}, {"animal", "pet"}, set()]


def test_a_column_for_each_class(tmp_path: Path) -> None:
    path = write(tmp_path, "size,dog,cat\n1,1,0\n2,0,1\n3,0.0,0\n")
    table = read_table(path, ANIMALS, labels=["dog", "cat"])
    assert table.feature_names == ("size",)
    assert ANIMALS.decode(table.Y, most_specific=True) == [{"dog"}, {"cat"}, set()]
    assert refused(write(tmp_path, "size,dog\n1,1\n2,2\n"), hierarchy=ANIMALS, labels=["dog"]) == (
        ", line 3, column 2: column 'dog': expected 0 or 1, but the cell has '2'."
    )
    assert "the cell is empty" in refused(write(tmp_path, "size,dog\n1,\n"), hierarchy=ANIMALS, labels=["dog"])
    assert "Unknown class 'cow'" in refused(write(tmp_path, "size,cow\n1,1\n"), hierarchy=ANIMALS, labels=["cow"])


def test_paths_in_the_labels_make_the_hierarchy(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "size,labels\n1,sport/tennis;politics\n2,sport\n"))
    assert table.hierarchy.classes == ("politics", "sport", "sport/tennis")
    table = read_table(
        write(tmp_path, "size,topics\n1,sport>tennis|politics\n"), labels="topics", separator="|", path_separator=">"
    )
    assert table.hierarchy.classes == ("politics", "sport", "sport>tennis")
    columns = read_table(write(tmp_path, "size,a,a/b\n1,0,1\n"), labels=["a", "a/b"])
    assert columns.Y.toarray().tolist() == [[True, True]]
    spaced = read_table(write(tmp_path, "size,labels\n1,sport / tennis\n2,sport/tennis\n"))
    assert spaced.hierarchy.classes == ("sport", "sport/tennis")
    assert spaced.Y.toarray().all()
    assert refused(write(tmp_path, "size,labels\n1,a/b\n1,a//b\n")) == (
        ", line 3, column 2: column 'labels': 'a//b' is not a path of non-empty parts separated by '/'."
    )
    for forgotten in ("size,labels\n1,dog\n", "size,labels\n1,\n"):
        assert "There is no hierarchy, and no label is a path with '/'" in refused(write(tmp_path, forgotten))


def test_a_file_of_the_hierarchy_will_do(tmp_path: Path) -> None:
    edges = write(tmp_path, "parent,child\nanimal,dog\nanimal,cat\npet,dog\n", "edges.csv")
    assert read_table(write(tmp_path, PLAIN), edges, id_column=0).hierarchy == ANIMALS


def test_only_nothing_is_no_label_and_no_id(tmp_path: Path) -> None:
    tree = Hierarchy.from_edges([("x", "NA"), ("x", "None")])
    table = read_table(write(tmp_path, "id,size,labels\nNA,1,NA\nnan,NA,None\nb,null, \n"), tree, id_column="id")
    assert tree.decode(table.Y, most_specific=True) == [{"NA"}, {"None"}, set()]
    assert table.X.index.tolist() == ["NA", "nan", "b"]
    assert table.X["size"].isna().tolist() == [False, True, True]


def test_class_columns_are_checked_against_the_hierarchy(tmp_path: Path) -> None:
    path = write(tmp_path, "size,dog,cow\n1,1,0\n")
    assert "Unknown class 'cow'" in refused(path, hierarchy=ANIMALS, labels=["dog", "cow"])
    for wrong in ([], ["dog", "dog"]):
        assert "expected at least one, without duplicates" in refused(path, hierarchy=ANIMALS, labels=wrong)
    path = write(tmp_path, "size,dog,cat\n1,True,false\n")
    assert "column 'cat': the column has the name of a class, but is not in labels" in refused(
        path, hierarchy=ANIMALS, labels=["dog"]
    )
    assert ANIMALS.decode(read_table(path, ANIMALS, labels=["dog", "cat"]).Y, most_specific=True) == [{"dog"}]


def test_ids_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, PLAIN)
    assert read_table(path, ANIMALS, id_column=0).X.index.tolist() == ["Rex", "Tom", "Nemo", "Bo"]
    assert "id_column is 9; expected 0 to 3" in refused(path, hierarchy=ANIMALS, id_column=9)
    assert "id_column is 'labels', but this is the column of labels" in refused(
        path, hierarchy=ANIMALS, id_column="labels"
    )
    assert "categorical is 'size'; expected a list" in refused(path, hierarchy=ANIMALS, categorical="size")


def test_labels_are_sparse(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, PLAIN), ANIMALS, id_column="name")
    assert isinstance(table.Y, sparse.csr_array)


def test_features_alone(tmp_path: Path) -> None:
    frame = read_features(write(tmp_path, "gene,x\ng1,1\ng2,2\n"), id_column=0)
    assert frame.index.tolist() == ["g1", "g2"]
    assert frame["x"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ": the file is empty; expected a header and rows."),
        ("size,labels\n", ", line 1: the file has a header, but no rows."),
        ("size,labels\n1,dog\n2\n", ", line 3: the row has 1 cell, but the header has 2."),
        ("size,labels\n1,dog,3\n", ", line 2: the row has 3 cells, but the header has 2."),
        ('size,labels\n"1\n",dog\n2\n', ", line 4: the row has 1 cell, but the header has 2."),
        ("size,size,labels\n1,2,dog\n", ", line 1: there are two columns 'size'; rename one of them."),
        ("size,,labels\n1,2,dog\n", ", line 1: cell 2 of the header is empty; every column needs a name."),
        (
            "size,label\n1,dog\n",
            "did you mean 'label'? name your column of labels with labels=\"...\". The columns are size, label.",
        ),
        (
            "size;labels\n1;dog\n",
            "The only column is size;labels, read as separated by ','; write it so, or name another delimiter",
        ),
        ("size;length, cm;labels\n1;2,3;dog\n", "The columns are size;length, cm;labels, read as separated by ',';"),
        ("size,labels\n1,dag\n", ", line 2, column 2: column 'labels': Unknown class 'dag'. Did you mean 'dog'?"),
        ("size,labels\n1,dig|dag\n", ", line 2, column 2: column 'labels': Unknown class 'dig|dag'. It is not in the"),
        ('size,labels\n"a\nb",dog\n1,dag\n', ", line 4, column 2: column 'labels': Unknown class 'dag'."),
        ("size,labels\n1,dog;;cat\n", ", line 2, column 2: column 'labels': 'dog;;cat' has a label that is empty"),
        ("labels\ndog\n", ": there is no column of features."),
        (b"size,labels\n1,d\xffg\n", ", line 2, column 4: the file is not text in UTF-8; save it in that encoding."),
        (b"size,labels\n1,d\0g\n", ", line 2, column 4: the file is not text: it contains a zero byte."),
        ('size,labels\n1,"dog\n', ", line 2: the row cannot be read: unexpected end of data."),
    ],
)
def test_bad_files_are_told_with_line_and_column(tmp_path: Path, text: str | bytes, told: str) -> None:
    message = refused(write(tmp_path, text), hierarchy=ANIMALS)
    assert told in message


@pytest.mark.parametrize("separator", [",", "|", "@", " "])
def test_labels_with_another_separator_are_told_with_it(tmp_path: Path, separator: str) -> None:
    path = write(tmp_path, f'size,labels\n1,"dog{separator}cat"\n')
    told = f"Unknown class 'dog{separator}cat', but 'dog', 'cat' are classes: to separate them, pass separator="
    assert f"{told}{separator!r}." in refused(path, hierarchy=ANIMALS)
    assert read_table(path, ANIMALS, separator=separator).Y.sum() == len(ANIMALS)


def test_bad_options_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, PLAIN)
    assert "there is no column 'nome'; did you mean 'name'?" in refused(path, hierarchy=ANIMALS, id_column="nome")
    assert "there is no column 'zone'; categorical= names it" in refused(path, hierarchy=ANIMALS, categorical=["zone"])
    assert "separator of labels is empty" in refused(path, hierarchy=ANIMALS, separator="")
    assert "expected one character" in refused(path, hierarchy=ANIMALS, delimiter="||")
    assert refused(tmp_path / "nothing.csv") == ": the file does not exist."
    assert "unknown ending '.xls'; expected one of .csv, .tsv" in refused(write(tmp_path, PLAIN, "my.xls"))
    twice = write(tmp_path, "id,x,labels\na,1,dog\na,2,cat\n")
    assert refused(twice, hierarchy=ANIMALS, id_column="id") == (
        ", line 3, column 1: column 'id': the id 'a' appears twice; expected a different id in each row."
    )
    broken = write(tmp_path, gzip.compress(PLAIN.encode() * 100)[:50], "broken.csv.gz")
    assert "the file is not a complete gzip file" in refused(broken, hierarchy=ANIMALS)
    plain = write(tmp_path, PLAIN, "plain.csv.gz")
    assert "the file is not a complete gzip file" in refused(plain, hierarchy=ANIMALS)


def test_a_big_table_is_read(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(20_000, 50)).round(4)).rename(columns=str)
    frame.assign(labels=random.choice(["dog", "cat;pet"], len(frame))).to_csv(tmp_path / "big.csv", index=False)
    table = read_table(tmp_path / "big.csv", ANIMALS)
    np.testing.assert_allclose(table.X.to_numpy(), frame.to_numpy())
    assert re.match(r"Table\(20,000 rows, 50 features", repr(table))

import gzip
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from chmcnn import ArffError, FileError, Hierarchy, TableError
from chmcnn.datasets import Table, read_features, read_table
from chmcnn.datasets.columns import list_kinds
from chmcnn.datasets.parquet import has_checksums

ANIMALS = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])
PLAIN = """name,size,colour,labels
Rex, 3.5 ,brown,dog
Tom,,"grey, dark",cat
Nemo,1e-1,NA,animal; pet
Bo,2,brown,
"""


def write(folder: Path, text: str | bytes, name: str = "my.csv") -> Path:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(TableError) as caught:
        read_table(path, **options)
    assert caught.value.path == path
    return str(caught.value).removeprefix(f"{path}")


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


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["1,5", "2,5"], "'1,5' is not a finite number"),
        (["1_000", "2_000"], "'1_000' is not a finite number"),
        (["10 %", "20%"], "'10 %' is not a finite number"),
        (["1e400", "-1e400"], "'1e400' is not a finite number"),
        (["inf", "-inf"], "'inf' is not a finite number"),
        (["01234", "12345"], "'01234' starts with 0, like a code"),
        ([f"gene{number}" for number in range(200)], "200 different texts in 200 rows, like names of the rows"),
    ],
)
def test_columns_that_cannot_be_told_are_refused_unless_named(tmp_path: Path, cells: list[str], told: str) -> None:
    frame = pd.DataFrame({"x": cells, "labels": "dog"})
    frame.to_csv(tmp_path / "my.csv", index=False)
    assert told in refused(tmp_path / "my.csv", hierarchy=ANIMALS)
    table = read_table(tmp_path / "my.csv", ANIMALS, categorical=["x"])
    assert table.X["x"].tolist() == cells


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


def test_kinds_of_parquet_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None], dtype="Int64"),
            "flag": [True, False],
            "money": [Decimal("1.5"), None],
            "kind": pd.Categorical(["2", "1"], categories=["3", "2", "1"]),
            "word": ["NA", "x"],
            "labels": pd.array([1, None], dtype="Int64"),
        }
    )
    frame.to_parquet(tmp_path / "my.parquet")
    tree = Hierarchy.from_edges([("0", "1")])
    table = read_table(tmp_path / "my.parquet", tree)
    assert tree.decode(table.Y, most_specific=True) == [{"1"}, set()]
    np.testing.assert_array_equal(table.X[["whole", "flag", "money"]], [[1, 1, 1.5], [np.nan, 0, np.nan]])
    assert table.X["kind"].cat.categories.tolist() == ["3", "2", "1"]
    assert table.X["word"].isna().tolist() == [True, False]
    for name, values in {
        "time": pd.Series([pd.Timedelta(1, "D"), None]),
        "list": [[1, 2], [3]],
        "large": [2**53 + 1, 1],
        "words": [["a"], ["b"]],
        "inf": [np.inf, 1.0],
    }.items():
        pd.DataFrame({name: values, "labels": ["1", "1"]}).to_parquet(tmp_path / "bad.parquet")
        message = refused(tmp_path / "bad.parquet", hierarchy=tree)
        assert f"column {name!r}" in message


def test_ids_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, PLAIN)
    assert read_table(path, ANIMALS, id_column=0).X.index.tolist() == ["Rex", "Tom", "Nemo", "Bo"]
    assert "id_column is 9; expected 0 to 3" in refused(path, hierarchy=ANIMALS, id_column=9)
    assert "id_column is 'labels', but this is the column of labels" in refused(
        path, hierarchy=ANIMALS, id_column="labels"
    )
    assert "categorical is 'size'; expected a list" in refused(path, hierarchy=ANIMALS, categorical="size")


def test_parquet_with_lists_or_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": [1, 2], "kind": ["a", None], "labels": [["dog"], []]})
    frame.to_parquet(tmp_path / "my.parquet")
    table = read_table(tmp_path / "my.parquet", ANIMALS)
    assert table.X["size"].tolist() == [1.0, 2.0]
    assert table.X["kind"].cat.categories.tolist() == ["a"]
    assert ANIMALS.decode(table.Y, most_specific=True) == [{"dog"}, set()]
    frame.assign(labels=pd.Series(["dog;cat", None])).to_parquet(tmp_path / "text.parquet")
    assert ANIMALS.decode(read_table(tmp_path / "text.parquet", ANIMALS).Y, most_specific=True) == [
        {"dog", "cat"},
        set(),
    ]
    frame.assign(labels=["dog", "dag"]).to_parquet(tmp_path / "wrong.parquet")
    message = refused(tmp_path / "wrong.parquet", hierarchy=ANIMALS)
    assert message == (
        ", column 3: row 2, column 'labels': Unknown class 'dag'. Did you mean 'dog'? It is not in the hierarchy."
    )
    frame.iloc[:0].to_parquet(tmp_path / "empty.parquet")
    assert "the file has no rows" in refused(tmp_path / "empty.parquet", hierarchy=ANIMALS)
    assert "the file is not Parquet" in refused(write(tmp_path, PLAIN, "no.parquet"), hierarchy=ANIMALS)


def test_arff_is_read_too(tmp_path: Path) -> None:
    text = "@RELATION r\n@ATTRIBUTE x numeric\n@ATTRIBUTE class hierarchical 1,1/2\n@DATA\n3,1/2\n"
    table = read_table(write(tmp_path, text, "my.arff"))
    assert table.hierarchy.classes == ("1", "1/2", "root")
    assert table.Y.toarray().all()
    assert "Unknown class '1/2'" in refused(write(tmp_path, text, "my.arff"), hierarchy=ANIMALS)
    assert "id_column= does not apply" in refused(write(tmp_path, text, "my.arff"), id_column="x")
    packed = write(tmp_path, gzip.compress(text.encode()), "my.arff.gz")
    assert np.array_equal(read_table(packed).Y.toarray(), table.Y.toarray())
    assert refused(tmp_path / "no.arff") == ": the file does not exist."
    with pytest.raises(ArffError, match="there is no @DATA"):
        read_table(write(tmp_path, "", "my.arff"))


ARFF = """@RELATION r
@ATTRIBUTE x numeric
@ATTRIBUTE zone {2,1}
@ATTRIBUTE class hierarchical 1,1/2
@DATA
3,1,1/2
4,?,1
"""


@pytest.mark.parametrize("name", ["my.arff", "my.ARFF", "my.arff.gz"])
def test_arff_has_features_and_categories(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, gzip.compress(ARFF.encode()) if name.endswith(".gz") else ARFF, name)
    for features in (read_features(path), read_features(path, categorical=["zone"]), read_table(path).X):
        assert features["x"].tolist() == [3.0, 4.0]
        assert features["zone"].cat.categories.tolist() == ["2", "1"]
    assert read_features(path, columns=["zone"]).columns.tolist() == ["zone"]
    assert read_table(path, categorical=["zone", "x"]).X["x"].tolist() == ["3", "4"]
    with pytest.raises(TableError, match="there is no column 'zon'; did you mean 'zone'"):
        read_features(path, columns=["zon"])
    with pytest.raises(TableError, match="delimiter= does not apply"):
        read_features(path, delimiter=";")


def test_labels_are_sparse(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, PLAIN), ANIMALS, id_column="name")
    assert isinstance(table.Y, sparse.csr_array)


def test_numbers_can_be_categories(tmp_path: Path) -> None:
    path = write(tmp_path, "zone,labels\n1,dog\n2a,cat\n")
    assert refused(path, hierarchy=ANIMALS) == (
        ", line 3, column 1: column 'zone': '2a' is not a finite number, but the column seems "
        "numeric; if it has categories, name it in categorical=."
    )
    assert read_table(path, ANIMALS, categorical=["zone"]).X["zone"].tolist() == ["1", "2a"]
    assert "'inf' is not a finite number" in refused(
        write(tmp_path, "size,labels\n1,dog\ninf,cat\n"), hierarchy=ANIMALS
    )


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
            "there is no column 'labels'; did you mean 'label'? name your column of labels with labels=\"...\",",
        ),
        ("size,labels\n1,dag\n", ", line 2, column 2: column 'labels': Unknown class 'dag'. Did you mean 'dog'?"),
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


TEXT = "id,title,colour,when,labels\n" + "".join(
    f"{number},the {number} red shoes,{'red' if number % 2 else 'deep blue'},2026-01-{number + 1:02},dog\n"
    for number in range(30)
)


DIGITS = "1" * 100_000


@pytest.mark.parametrize("cell", [DIGITS, f"{DIGITS}x", f"1{' ' * 100_000}x", f"{'_' * 100_000}x", f"1e{DIGITS}"])
@pytest.mark.parametrize("name", ["my.csv", "my.arff"])
def test_a_very_long_cell_does_not_delay_its_error(tmp_path: Path, name: str, cell: str) -> None:
    header = "x,labels\n1,dog\n"
    if name == "my.arff":
        header = "@RELATION r\n@ATTRIBUTE x numeric\n@ATTRIBUTE class hierarchical dog\n@DATA\n1,dog\n"
    with pytest.raises(FileError, match="number"):  # a quadratic pattern would take minutes
        read_table(write(tmp_path, f"{header}{cell},dog\n", name), ANIMALS)


def test_text_and_dates_are_found_or_named(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    table = read_table(path, ANIMALS, id_column="id")
    assert list_kinds(table.X) == {"title": "text", "colour": "categories", "when": "dates"}
    assert table.X["title"].dtype == "string"
    named = read_table(path, ANIMALS, text=["colour", "id"], categorical=["title", "when"])
    assert list_kinds(named.X) == {"id": "text", "title": "categories", "colour": "text", "when": "categories"}
    assert list_kinds(read_features(path, id_column="id", columns=["colour"], text=["colour"])) == {"colour": "text"}
    assert list(read_table(path, ANIMALS, columns=["when", "title"]).X.columns) == ["when", "title"]


def test_a_text_may_be_missing_or_say_na(tmp_path: Path) -> None:
    path = write(tmp_path, "title,labels\nNA,dog\n,cat\n ,cat\n42,dog\n")
    assert read_table(path, ANIMALS, text=["title"]).X["title"].fillna("missing").tolist() == [
        "NA",
        "missing",
        " ",
        "42",
    ]


def test_bad_texts_and_dates_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    assert "text is 'title'; expected a list of columns, such as ['title']" in refused(
        path, hierarchy=ANIMALS, text="title"
    )
    assert "no column 'titel'; did you mean 'title'? text= names it" in refused(path, hierarchy=ANIMALS, text=["titel"])
    both = refused(path, hierarchy=ANIMALS, text=["title"], categorical=["title"])
    assert "column 'title': categorical= and text= both name it" in both
    assert "no column 'size'; the features need it" in refused(path, hierarchy=ANIMALS, columns=["size"])
    assert "column 'labels': the features need it, but it has" in refused(path, hierarchy=ANIMALS, columns=["labels"])
    (tmp_path / "latin.csv").write_bytes("title,labels\nred shoes,dog\ngr\xfcne Schuhe,cat\n".encode("latin-1"))
    assert "line 3, column 3: the file is not text in UTF-8; save it in that encoding" in refused(
        tmp_path / "latin.csv"
    )
    wrong = write(tmp_path, "when,labels\n2026-01-01,dog\n2026-13-01,cat\n")
    assert "line 3, column 1: column 'when': '2026-13-01' is not a date" in refused(wrong, hierarchy=ANIMALS)
    local = write(tmp_path, "when,labels\n31/12/2025,dog\n01/02/2026,cat\n")
    assert "'31/12/2025' seems to be a date; write dates as 2026-12-31" in refused(local, hierarchy=ANIMALS)
    assert read_table(local, ANIMALS, categorical=["when"]).X["when"].tolist() == ["31/12/2025", "01/02/2026"]


def test_dates_and_text_of_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "time": pd.Series(["2020-01-01T06:00", None], dtype="datetime64[us]"),
            "zone": pd.to_datetime(["2020-01-01T06:00+06:00", ""]),
            "kind": pd.Categorical(["a", None]),
            "size": [1.0, 2.0],
            "labels": ["dog", "cat"],
        }
    )
    frame.to_parquet(tmp_path / "my.parquet")
    table = read_table(tmp_path / "my.parquet", ANIMALS, text=["kind"])
    assert list_kinds(table.X) == {"time": "dates", "zone": "dates", "kind": "text", "size": "numbers"}
    assert table.X["time"].tolist()[0] == pd.Timestamp("2020-01-01T06:00")
    assert table.X["zone"].tolist()[0] == pd.Timestamp("2020-01-01")
    message = refused(tmp_path / "my.parquet", hierarchy=ANIMALS, text=["size"])
    assert "column 'size': text= names it, but it has numbers" in message


def write_parquet(path: Path, **options: Any) -> None:
    columns = {"size": np.arange(500.0), "kind": ["dog", "cat"] * 250, "labels": ["dog", "cat"] * 250}
    parquet.write_table(pa.table(columns), path, compression="none", **options)


def test_a_flipped_bit_in_parquet_is_noticed_if_the_file_has_checksums(tmp_path: Path) -> None:
    path = tmp_path / "my.parquet"
    write_parquet(path, write_page_checksum=True)
    assert has_checksums(path)
    whole = path.read_bytes()
    pages = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for place in range(30, pages, pages // 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        assert "is not Parquet, or is damaged" in refused(path, hierarchy=ANIMALS)
    write_parquet(path)
    assert not has_checksums(path)


def test_our_own_parquet_files_have_checksums(tmp_path: Path) -> None:
    Table(np.eye(3), ["dog", "cat", "pet"], ANIMALS).to_parquet(tmp_path / "my.parquet")
    assert has_checksums(tmp_path / "my.parquet")


def test_parquet_with_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.parquet"
    write_parquet(path, use_dictionary=False)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"kind", b"k\xffnd"))
    assert "is not text in UTF-8" in refused(path, hierarchy=ANIMALS) or "damaged" in refused(path, hierarchy=ANIMALS)
    path.write_bytes(whole.replace(b"dog", b"d\xffg"))
    assert "column 'kind' cannot be used: " in refused(path, hierarchy=ANIMALS)

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.datasets.tables import ANIMALS, refused, write

from chmcnn import FileError
from chmcnn.datasets import read_features, read_table
from chmcnn.datasets.columns import list_kinds

TEXT = "id,title,colour,when,labels\n" + "".join(
    f"{number},the {number} red shoes,{'red' if number % 2 else 'deep blue'},2026-01-{number + 1:02},dog\n"
    for number in range(30)
)
DIGITS = "1" * 100_000


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


def test_numbers_can_be_categories(tmp_path: Path) -> None:
    path = write(tmp_path, "zone,labels\n1,dog\n2a,cat\n")
    assert refused(path, hierarchy=ANIMALS) == (
        ", line 3, column 1: column 'zone': '2a' is not a finite number, but the column seems "
        "numeric; correct it, or train with the column in categorical=."
    )
    assert read_table(path, ANIMALS, categorical=["zone"]).X["zone"].tolist() == ["1", "2a"]
    assert "'inf' is not a finite number" in refused(
        write(tmp_path, "size,labels\n1,dog\ninf,cat\n"), hierarchy=ANIMALS
    )


@pytest.mark.parametrize(("cell", "shown"), [("1e300", "1e+300"), ("-1.7e308", "-1.7e+308")])
def test_huge_numbers_are_told_with_their_place(tmp_path: Path, cell: str, shown: str) -> None:
    told = refused(write(tmp_path, f"a,b,labels\n1,,dog\n2,{cell},dog\n"), hierarchy=ANIMALS)
    assert f"line 3, column 2: column 'b': the number {shown} is too large to compute with; correct it" in told
    frame = pd.DataFrame({"b": [1.0, np.nan, float(cell)], "labels": "dog"})
    frame.to_parquet(tmp_path / "my.parquet")
    assert f"column 'b': the number {shown} is too large" in refused(tmp_path / "my.parquet", hierarchy=ANIMALS)
    read_table(write(tmp_path, "a,labels\n1e100,dog\n-1e100,dog\n"), ANIMALS)


@pytest.mark.parametrize("price", ["$5,006.00", "-$1.99", "12.99 \u20ac", "\u00a37"])
def test_amounts_of_money_are_no_categories_unless_named(tmp_path: Path, price: str) -> None:
    pd.DataFrame({"price": [price, price], "labels": "dog"}).to_csv(tmp_path / "my.csv", index=False)
    assert f"{price!r} is not a finite number, but the column seems numeric" in refused(
        tmp_path / "my.csv", hierarchy=ANIMALS
    )
    assert read_table(tmp_path / "my.csv", ANIMALS, categorical=["price"]).X["price"].tolist() == [price, price]


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

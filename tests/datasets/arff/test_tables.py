"""ARFF files as tables: what `read_table` and `read_features` return."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from tests.datasets.tables import ANIMALS, refused, write

from chmcnn import ArffError, TableError
from chmcnn.datasets import read_features, read_table

ARFF = """@RELATION r
@ATTRIBUTE x numeric
@ATTRIBUTE zone {2,1}
@ATTRIBUTE class hierarchical 1,1/2
@DATA
3,1,1/2
4,?,1
"""


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

from pathlib import Path

import numpy as np
import pytest
from tests.cli.inside import run

from chmcnn.datasets import load, read_table


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_data_set_is_exported_and_read_again(tmp_path: Path, ending: str) -> None:
    done = run("datasets", "export", "digits", "--part", "valid", "-o", f"new/d.{ending}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"297 rows: new/d.{ending}\n19 classes: new/d.hierarchy.json\n"
    again, original = read_table(tmp_path / f"new/d.{ending}", tmp_path / "new/d.hierarchy.json"), load("digits").valid
    assert np.array_equal(again.Y.toarray(), original.Y.toarray())
    assert np.array_equal(again.X.to_numpy(), original.X.to_numpy())
    assert again.hierarchy == original.hierarchy


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("digits", "-o", "old.csv"), "old.csv already exists; choose another file, or use --force"),
        (("digits", "-o", "other.csv"), "other.hierarchy.json already exists"),
        (("digits", "-o", "new.json"), "new.json ends in '.json'; expected .csv or .tsv or .parquet."),
        (("my.csv", "--part", "test", "-o", "new.csv"), "my.csv is a file; --part is only for the name of a data set."),
        (("my.csv", "--separator", "|", "-o", "new.csv"), "The class 'a;b' cannot be written with the separator"),
        (("my.csv", "--separator", "|", "-o", "new.csv"), "; write a .parquet file."),
        (("digits", "--annotations", "x.gaf", "-o", "new.csv"), "digits is not a file; --annotations is only for"),
    ],
)
def test_bad_input_is_told_and_nothing_is_written(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    (tmp_path / "my.csv").write_text("x,labels\n1,a;b/c\n2,a;b|d/e\n")
    for name in ("old.csv", "other.hierarchy.json"):
        (tmp_path / name).write_text("mine")
    before = sorted(tmp_path.iterdir())
    done = run("datasets", "export", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert sorted(tmp_path.iterdir()) == before

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.inside import run

pytestmark = pytest.mark.usefixtures("without_pictures")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stream")
    (folder / "big").mkdir()
    (folder / "edges.csv").write_text("parent,child\nanimal,dog\nanimal,cat\n")
    random = np.random.default_rng(0)
    kinds = random.choice(["dog", "cat"], 120)
    frame = pd.DataFrame(
        {
            "name": [f"n{number}" for number in range(120)],
            "size": np.where(kinds == "dog", 3.0, -3.0) + random.normal(size=120),
            "zone": random.choice(["1", "2a"], 120),
            "labels": kinds,
        }
    )
    for number in range(3):
        part = frame.iloc[30 * number : 30 * (number + 1)]
        part.to_parquet(folder / "big" / f"part{number}.parquet", row_group_size=10)
    frame.iloc[90:].to_csv(folder / "test.csv", index=False)
    return folder


def test_files_are_streamed_and_the_model_predicts_tables(place: Path) -> None:
    options = "--stream --window 20 --hierarchy edges.csv --id-column name --test test.csv --epochs 10 -o model --quiet"
    files = [str(path.relative_to(place)) for path in sorted((place / "big").iterdir())]
    done = run("train", *files, *options.split(), cwd=place)
    assert done.returncode == 0, done.stderr
    assert "AU(PRC)" in done.stdout
    assert "90 training, 30 test" in (place / "model" / "report.html").read_text()
    assert run("evaluate", "model", "test.csv", cwd=place).returncode == 0
    done = run("predict", "model", "test.csv", "--most-specific", cwd=place)
    assert done.stdout.startswith("name,labels\nn90,")


def test_a_folder_is_one_table_without_a_stream(place: Path) -> None:
    options = "--hierarchy edges.csv --id-column name --categorical zone --epochs 2 -o whole --quiet"
    done = run("train", "big/", *options.split(), cwd=place)
    assert done.returncode == 0, done.stderr
    assert "72 training, 18 test" in (place / "whole" / "report.html").read_text()
    assert run("evaluate", "whole", "big", cwd=place).returncode == 0
    assert run("predict", "whole", "big", "--most-specific", cwd=place).stdout.count("\n") == 91


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("big --stream", "--stream needs --hierarchy"),
        (
            "big --stream --hierarchy edges.csv --text size",
            "--text cannot be used with --stream: TF-IDF needs all texts",
        ),
        ("big --stream --hierarchy edges.csv --delimiter ;", "--delimiter cannot be used with --stream"),
        ("big --stream --hierarchy edges.csv --test-share 0.1", "name a table to test on with --test"),
        ("nowhere/*.parquet --stream --hierarchy edges.csv", "nowhere/*.parquet has no Parquet files"),
        (
            "test.csv test.csv --hierarchy edges.csv",
            "There are 2 tables; name the folder of several Parquet files, or use --stream",
        ),
        ("test.csv --window 5 --hierarchy edges.csv", "--window is only for --stream"),
    ],
)
def test_bad_streams_are_told(place: Path, words: str, told: str) -> None:
    done = run("train", *words.split(), "-o", "none", cwd=place)
    assert done.returncode == 2
    assert told in done.stderr
    assert not (place / "none").exists()

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.cli.inside import run
from tests.estimator.texts import LABELS, TABLE

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
    frame.iloc[90:, ::-1].to_csv(folder / "order.csv", index=False)
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


def test_text_is_streamed_and_the_model_predicts_files(place: Path) -> None:
    (place / "shop").mkdir()
    paths = [label.split(" > ") for label in LABELS]
    table = TABLE.assign(labels=[name for _, name in paths]).sample(frac=1, random_state=0)
    for number in range(2):
        table.iloc[30 * number : 30 * (number + 1)].to_parquet(place / "shop" / f"{number}.parquet", row_group_size=15)
    table.iloc[60:].to_csv(place / "shop.csv")
    edges = sorted({",".join(path) for path in paths})
    (place / "shop_edges.csv").write_text("\n".join(["parent,child", *edges]))
    options = "--stream --window 20 --hierarchy shop_edges.csv --id-column sku --test shop.csv"
    done = run("train", "shop", *options.split(), "--epochs", "2", "-o", "texts", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "'title' has running text, which becomes TF-IDF" in done.stderr
    assert run("evaluate", "texts", "shop.csv", cwd=place).returncode == 0
    done = run("predict", "texts", "shop/0.parquet", "shop/1.parquet", "-o", "scores", cwd=place)
    assert done.returncode == 0, done.stderr
    assert len(list((place / "scores").glob("*.parquet"))) == 4
    words = "shop --stream --hierarchy shop_edges.csv --id-column sku --categorical title -o named"
    done = run("train", *words.split(), "--epochs", "1", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "running text" not in done.stderr


def test_sparse_features_are_streamed(place: Path) -> None:
    (place / "sparse").mkdir()
    kinds = np.array(["dog", "cat"])[np.arange(60) % 2]
    entries = pa.table({"indices": [[2] if kind == "dog" else [3] for kind in kinds], "values": [[1.0]] * 60})
    entries = entries.append_column("labels", pa.array(kinds))
    parquet.write_table(entries, place / "sparse" / "my.parquet", row_group_size=20)
    parquet.write_table(entries.slice(0, 5).set_column(0, "indices", [[[2]] * 5]), place / "fewer.parquet")
    options = "--stream --hierarchy edges.csv --test fewer.parquet --epochs 2 -o entries --quiet"
    done = run("train", "sparse", *options.split(), cwd=place)
    assert done.returncode == 0, done.stderr
    assert run("evaluate", "entries", "fewer.parquet", cwd=place).returncode == 0
    done = run("train", "sparse", *options.split(), "--id-column", "labels", "--force", cwd=place)
    assert "the features are sparse, without names of columns: --id-column does not apply" in done.stderr


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
            "column 'size': --text names it, but it has numbers; leave it out of --text",
        ),
        ("big --stream --hierarchy edges.csv --delimiter ;", "--delimiter cannot be used with --stream"),
        ("big --stream --hierarchy edges.csv --test-share 0.1", "name a table to test on with --test"),
        ("big --stream --hierarchy edges.csv --test order.csv", "order.csv has different columns than"),
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

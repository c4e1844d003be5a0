from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.inside import run


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of the user's own, and a model of them."""
    place = tmp_path_factory.mktemp("mine")
    random = np.random.default_rng(0)
    kinds = random.choice(["dog", "cat", "pet"], 150)
    frame = pd.DataFrame(
        {
            "name": [f"n{number}" for number in range(150)],
            "size": np.select([kinds == "dog", kinds == "cat"], [3.0, -3.0], 0.0) + random.normal(0, 0.3, 150),
            "zone": random.choice(["1", "2a"], 150),
            "labels": kinds,
        }
    )
    frame.iloc[:120].to_csv(place / "my.csv", index=False)
    frame.iloc[120:].to_csv(place / "test.csv", index=False)
    frame.iloc[120:130].assign(zone="1").drop(columns="labels").to_csv(place / "new.csv", index=False)
    (place / "edges.csv").write_text("parent,child\nanimal,dog\nanimal,cat\npet,dog\n")
    frame.iloc[120:].drop(columns="size").to_csv(place / "fewer.csv", index=False)
    columns = ("--hierarchy", "edges.csv", "--id-column", "name", "--categorical", "zone")
    quick = ("--epochs", "20", "--width", "32", "--learning-rate", "0.01")
    done = run("train", "my.csv", *columns, *quick, "--tune-thresholds", "--quiet", "-o", "model", cwd=place)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "AU(PRC)" in done.stdout
    return place


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the pictures out of the page of a training, where no test looks at them: each takes a while to render."""
    monkeypatch.setattr("chmcnn.report.training_page.inline", lambda _figure: "data:,")

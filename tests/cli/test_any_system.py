"""predict, evaluate and explain with a model that is no network."""

from pathlib import Path

import pandas as pd
import pytest
from tests.cli.inside import run

from chmcnn.baselines import KernelRidge
from chmcnn.hierarchy import Hierarchy

pytestmark = pytest.mark.usefixtures("without_pictures")


def test_commands_take_a_model_of_any_system(tmp_path: Path) -> None:
    table = pd.DataFrame({"size": [3.0, -3.0, 0.1] * 10, "labels": ["dog", "cat", "pet"] * 10})
    table.to_csv(tmp_path / "table.csv", index=False)
    hierarchy = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])
    labels = [{name} for name in table["labels"]]
    KernelRidge(hierarchy, random_state=0).fit(table[["size"]], labels).save(tmp_path / "model")
    for arguments, expected in (
        (("predict", "model", "table.csv", "--labels"), "0,animal;dog;pet"),
        (("explain", "model", "table.csv"), "dog"),
        (("evaluate", "model", "table.csv", "--report", "page.html"), "AU(PRC)"),
    ):
        done = run(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
    page = (tmp_path / "page.html").read_text()
    assert "landmarks" in page
    assert "best epoch" not in page

"""All experiments of a folder."""

from pathlib import Path

from chmcnn._io import results
from chmcnn.report.paper import experiments


def test_the_versions_are_those_of_the_results(tmp_path: Path) -> None:
    for name, torch in {"table3/runs/a": "2.7", "figure1/step1": "2.8", "table4/enron": "2.7", "else/a": "1"}.items():
        results.write(tmp_path / f"{name}.json", {"versions": {"torch": torch, "python": "3.12"}})
    results.write(tmp_path / "table1/enron.json", {"features": 1001})
    assert experiments.versions(tmp_path) == {"torch": "2.8, 2.7", "python": "3.12"}
    assert experiments.versions(tmp_path / "empty") == {}

"""All experiments of a folder."""

from pathlib import Path

from chmcnn._io import results
from chmcnn.experiments import registry
from chmcnn.experiments.section import headline


def test_the_versions_are_those_of_the_results(tmp_path: Path) -> None:
    for name, torch in {"table3/runs/a": "2.7", "figure1/step1": "2.8", "table4/enron": "2.7", "else/a": "1"}.items():
        results.write(tmp_path / f"{name}.json", {"versions": {"torch": torch, "python": "3.12"}})
    results.write(tmp_path / "table1/enron.json", {"features": 1001})
    assert registry.read_versions(tmp_path) == {"torch": "2.8, 2.7", "python": "3.12"}
    assert registry.read_versions(tmp_path / "empty") == {}


def test_the_headline_counts_experiments_without_results(tmp_path: Path) -> None:
    sections = [registry.read_section(name, tmp_path) for name in registry.EXPERIMENTS]
    expected = (
        "1 of 8 experiments has results, 7 have not been run. Of the results, 8 of 8 comparisons agree with the paper."
    )
    assert headline(sections) == expected  # the statistics of the published table need no runs

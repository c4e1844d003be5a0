"""The statistics of the published table are those of the paper."""

from pathlib import Path

import pandas as pd

from chmcnn.experiments import significance


def test_the_papers_own_figures_come_out() -> None:
    found = significance.section(significance.collect(Path()))
    assert len(found.checks) == 8
    assert all(check.agrees for check in found.checks), [check for check in found.checks if not check.agrees]
    assert [picture.name for picture in found.pictures] == ["ranks-published"]


def test_small_tables_have_what_they_are_big_enough_for() -> None:
    table = pd.DataFrame({"C-HMCNN": [0.3, 0.4], "HMCN-F": [0.3, 0.3]}, index=["enron", "diatoms"])
    assert significance.compute_statistics(table) == {"average rank, C-HMCNN": 1.25, "average rank, HMCN-F": 1.75}
    table = table.head(1)
    assert significance.compute_statistics(table) == {}
    assert significance.pictures(table, "mine", "Mine") == ()

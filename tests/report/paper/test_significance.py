"""The statistics of the published table are those of the paper."""

import pandas as pd

from chmcnn.report.paper import significance


def test_the_papers_own_figures_come_out() -> None:
    found = significance.section()
    assert len(found.checks) == 8
    assert all(check.agrees for check in found.checks), [check for check in found.checks if not check.agrees]
    assert [picture.name for picture in found.pictures] == ["ranks-published"]


def test_tables_that_are_too_small_have_ranks_alone() -> None:
    table = pd.DataFrame({"C-HMCNN": [0.3], "HMCN-F": [0.3]}, index=["enron"])
    assert significance.figures(table) == {"average rank, C-HMCNN": 1.5, "average rank, HMCN-F": 1.5}
    assert significance.pictures(table, "mine", "Mine") == ()

"""A search as a page and as a picture."""

import numpy as np
from tests.report.search_results import search_result

from chmcnn.report.search_page import draw, page


def test_the_page_has_everything_and_needs_nothing_else() -> None:
    shown = page(search_result(), "chmcnn search <mine>")
    for text in (
        "my &lt;table&gt;.csv",
        "<b>0.700</b>",
        "100x50",
        "0.000123",
        "&lt;mine&gt;",
        "the loss is &lt;nan&gt;",
    ):
        assert text in shown
    assert "6 trials of 8: 3 finished, 1 pruned, 1 failed, 1 running." in shown
    assert shown.count("data:image/png;base64,") == 2
    assert "http" not in shown
    assert "@media print" in shown


def test_the_page_of_a_search_that_found_nothing() -> None:
    shown = page(search_result(("failed", "pruned"), importances=False), "chmcnn search")
    assert "2 trials of 8: 1 pruned, 1 failed." in shown
    assert "best settings" not in shown
    assert shown.count("data:image/png;base64,") == 1


def test_the_picture_has_the_scores_the_best_so_far_and_the_importances() -> None:
    history, importances = draw(search_result()).axes
    lines = {str(line.get_label()): line for line in history.lines}
    assert set(lines) == {"finished", "best so far", "pruned", "failed"}
    assert np.asarray(lines["finished"].get_xdata()).tolist() == [0, 3, 4]
    assert np.asarray(lines["best so far"].get_ydata()).tolist() == [0.5, 0.7, 0.7]
    assert [label.get_text() for label in importances.get_yticklabels()] == ["learning_rate", "widths", "class_weight"]
    assert [text.get_text() for text in importances.texts] == ["75%", "25%", "0%"]
    assert len(draw(search_result(importances=False)).axes) == 1

"""A comparison as a page and as a picture."""

import numpy as np
from tests.results import WHY, summed_up

from chmcnn.report.comparison_page import draw, page

MANY = [f"data{number}" for number in range(6)]


def test_the_page_has_everything_and_needs_nothing_else() -> None:
    found = summed_up(MANY, lacking={("data0", "f+")})
    shown = page(found, "chmcnn compare <mine>")
    assert "3 systems on 6 data sets" in shown
    assert shown.count("data:image/png;base64,") == 7, "one of each data set, and the critical-difference diagram"
    for text in ("no result", WHY, "Wilcoxon", "critical-difference", "1,000", "30 MiB", "&lt;mine&gt;"):
        assert text.lower() in shown.lower()
    assert "http" not in shown
    assert "nan" not in shown.replace("data:", "").split("<body>")[1].split("base64")[0]


def test_the_page_of_one_data_set_and_folds() -> None:
    shown = page(summed_up(["my <table>.csv"], folds=True), "chmcnn compare")
    assert "3 systems on my &lt;table&gt;.csv" in shown
    assert "5 folds" in shown
    assert "a star marks a significant difference from C-HMCNN" in shown
    assert shown.count("data:image/png;base64,") == 1


def test_a_picture_has_a_dot_for_each_result() -> None:
    axis = draw(summed_up(lacking={("mine", "f+")}), "mine").axes[0]
    dots = [line for line in axis.lines if line.get_marker() == "o"]
    assert [np.size(line.get_xdata()) for line in dots] == [5, 5]
    assert [text.get_text() for text in axis.texts] == ["no result"]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["C-HMCNN", "h+", "f+"]

import numpy as np
import pytest

from chmcnn.experiments.nine_rectangles import NineRectangles
from chmcnn.report.paper.nine_rectangles import section


def result(mcloss: list[float], bce: list[float]) -> NineRectangles:
    grid = np.random.default_rng(0).random((5, 5), dtype=np.float32)
    return NineRectangles({"MCLoss": np.array(mcloss), "BCE": np.array(bce)}, {"MCLoss": grid, "BCE": grid}, 100)


def test_the_means_and_deviations_are_compared() -> None:
    assert [check.agrees for check in section(result([0.96, 0.98], [0.9, 0.98])).checks] == [True] * 4
    wrong = section(result([0.95, 0.96], [0.96, 0.96])).checks
    assert [check.agrees for check in wrong] == [False] * 4
    assert wrong[1].why.startswith("not known: the paper does not tell")


def test_ours_stands_below_the_published_figures() -> None:
    made = section(result([0.96, 0.97, 0.98], [0.9, 0.9, 0.9]))
    assert made.name == "nine-rectangles"
    published, ours = made.tables[0].rows[:2]
    assert published[1:] == ("published", 0.974, 0.007, 0.964, 0.975, 0.990)
    assert ours[0] == published[0]
    assert ours[2:] == pytest.approx((0.97, 0.01, 0.96, 0.97, 0.98))


def test_the_arrangement_is_drawn_beside_the_boundaries() -> None:
    figure = section(result([0.96], [0.9])).pictures[0].figure
    arrangement, bce, mcloss, _scale = figure.axes
    assert [text.get_text() for text in arrangement.texts] == list("123456789")
    assert bce.get_title() == "h + MCM, cross-entropy, A5"
    assert mcloss.get_title() == "C-HMCNN(h), MCLoss, A5"

from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.contour import ContourSet

from chmcnn.datasets.synthetic import two_rectangles
from chmcnn.experiments import figure1
from chmcnn.experiments.context import Context
from chmcnn.experiments.figure1 import Figure1, Row, section
from chmcnn.experiments.two_rectangles import KINDS, run


def test_it_is_the_first_run_of_the_two_rectangles(tmp_path: Path) -> None:
    figure1.run(Context(tmp_path), epochs=40)
    result = figure1.collect(tmp_path)
    assert result is not None
    assert [row.step for row in result.rows] == [9, 1, 5]
    assert result.epochs == 40
    (expected,) = run([1], epochs=40, seed=0)
    disjoint = result.rows[1]
    assert disjoint.rectangles == expected.problem.rectangles
    assert disjoint.delegated == expected.delegated
    np.testing.assert_allclose(disjoint.alone["h"], expected.h, atol=1e-6)
    np.testing.assert_allclose(disjoint.corrected["h"], expected.constrained, atol=1e-6)
    np.testing.assert_array_equal(disjoint.corrected["f"][..., 0], disjoint.alone["f"].min(axis=-1))  # A is lowered
    np.testing.assert_array_equal(disjoint.corrected["g"][..., 1], disjoint.alone["g"].max(axis=-1))  # B is raised


def result(*delegated: float) -> Figure1:
    values = {kind: np.random.default_rng(0).random((5, 5, 2), dtype=np.float32) for kind in KINDS}
    rows = tuple(
        Row(step, two_rectangles(step, rows=1).rectangles, values, values, share)
        for step, share in zip((9, 1, 5), delegated, strict=True)
    )
    return Figure1(rows, epochs=20_000)


def test_shares_are_compared_with_the_published_ones() -> None:
    made = section(result(0.04, 0.94, 0.83))
    assert [check.agrees for check in made.checks] == [True, False, True]
    assert [(check.published, check.ours) for check in made.checks] == [
        ("0%", "4.0%"),
        ("100%", "94.0%"),
        ("85%", "83.0%"),
    ]
    assert made.tables[0].rows == (
        ("nested", 9, 0.0, 0.04),
        ("disjoint", 1, 1.0, 0.94),
        ("half-way", 5, 0.85, 0.83),
    )
    assert made.command == "chmcnn reproduce figure1"
    assert "20,000 full-batch steps" in made.text


def test_a_class_that_is_nowhere_has_no_boundary() -> None:
    shown = result(0, 1, 0.85)
    nowhere = {kind: np.zeros((5, 5, 2), dtype=np.float32) for kind in KINDS}
    rows = tuple(replace(row, alone=nowhere) for row in shown.rows)
    figure = section(replace(shown, rows=rows)).pictures[0].figure
    assert not any(isinstance(each, ContourSet) for axis in figure.axes for each in axis.collections)


def test_the_pictures_are_laid_out_as_in_the_paper() -> None:
    figure, corrected = (picture.figure for picture in section(result(0, 1, 0.85)).pictures)
    titles = [axis.get_title() for axis in figure.axes if axis.get_title()]
    assert titles == ["f, A", "f, B", "g, A", "g, B \\ A", "h, A", "h, B"]
    assert [axis.get_ylabel() for axis in figure.axes if axis.get_ylabel()] == ["nested", "disjoint", "half-way"]
    assert len(figure.axes) == 3 * 6 + 3  # and the scale of each row
    assert [axis.get_ylabel() for axis in corrected.axes if axis.get_ylabel()] == ["f+, B", "g+, B", "C-HMCNN(h), B"]
    assert [axis.get_title() for axis in corrected.axes if axis.get_title()] == ["disjoint", "nested", "half-way"]

from pathlib import Path

import numpy as np

from chmcnn.experiments import figure1, two_rectangles


def test_it_is_the_first_run_of_the_two_rectangles(tmp_path: Path) -> None:
    figure1.run(tmp_path, epochs=150)
    result = figure1.collect(tmp_path)
    assert result is not None
    assert [row.step for row in result.rows] == [9, 1, 5]
    assert result.epochs == 150
    (expected,) = two_rectangles.run([1], epochs=150, seed=0)
    disjoint = result.rows[1]
    assert disjoint.rectangles == expected.problem.rectangles
    assert disjoint.delegated == expected.delegated
    np.testing.assert_allclose(disjoint.alone["h"], expected.h, atol=1e-6)
    np.testing.assert_allclose(disjoint.corrected["h"], expected.constrained, atol=1e-6)
    np.testing.assert_array_equal(disjoint.corrected["f"][..., 0], disjoint.alone["f"].min(axis=-1))  # A is lowered
    np.testing.assert_array_equal(disjoint.corrected["g"][..., 1], disjoint.alone["g"].max(axis=-1))  # B is raised

import numpy as np
import pytest

from chmcnn import ChmcnnError
from chmcnn.datasets.synthetic import random_hierarchy, two_rectangles


def share_inside(step: int) -> float:
    """How much of the smaller rectangle lies in the bigger one."""
    smaller, bigger = two_rectangles(step, rows=1).rectangles
    return float(np.clip((smaller.left + smaller.width - bigger.left) / smaller.width, 0, 1))


def test_the_rectangles_meet_where_the_paper_says() -> None:
    assert [share_inside(step) for step in (1, 2, 3)] == [0, 0, 0]
    assert 0 < share_inside(4) < share_inside(5) < 0.65
    assert share_inside(6) == pytest.approx(0.65, abs=0.01)
    smaller, bigger = two_rectangles(9, rows=1).rectangles
    for start, extent in (("left", "width"), ("bottom", "height")):
        centres = [getattr(r, start) + getattr(r, extent) / 2 for r in (smaller, bigger)]
        assert centres[0] == pytest.approx(centres[1], abs=0.001)
        assert getattr(smaller, extent) < getattr(bigger, extent)


def test_labels_say_which_rectangle_a_point_is_in() -> None:
    problem = two_rectangles(5, rows=5000, seed=3)
    a, b = problem.Y.T
    assert problem.hierarchy.classes == ("A", "B")
    assert not (a & ~b).any()
    assert a.mean() == pytest.approx(0.3 * 0.5, abs=0.02)
    outside = (problem.X[:, 0] < 0.29) | (problem.X[:, 0] > 0.99)
    assert not b[outside].any()
    assert ((problem.X >= 0) & (problem.X < 1)).all()


def test_the_seed_decides() -> None:
    assert np.array_equal(two_rectangles(1, seed=1).X, two_rectangles(1, seed=1).X)
    assert not np.array_equal(two_rectangles(1, seed=1).X, two_rectangles(1, seed=2).X)
    assert random_hierarchy(50, edges=60, depth=4, seed=1) == random_hierarchy(50, edges=60, depth=4, seed=1)
    assert random_hierarchy(50, edges=60, depth=4, seed=1) != random_hierarchy(50, edges=60, depth=4, seed=2)


@pytest.mark.parametrize(
    ("classes", "edges", "depth"), [(4126, 5827, 14), (500, 499, 6), (2, 1, 1), (10, 9, 9), (6, 15, 5), (1000, 3000, 3)]
)
def test_random_hierarchies_have_the_size_asked_for(classes: int, edges: int, depth: int) -> None:
    hierarchy = random_hierarchy(classes, edges=edges, depth=depth)
    assert (len(hierarchy), len(hierarchy.edges), hierarchy.depth) == (classes, edges, depth)
    assert len(hierarchy.roots) == 1


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ChmcnnError, match="Depth 5 does not fit 5 classes; expected 1 to 4"):
        random_hierarchy(5, depth=5)
    with pytest.raises(ChmcnnError, match="7 edges do not fit 5 classes; expected 4 to 4"):
        random_hierarchy(5, edges=7, depth=1)
    with pytest.raises(ChmcnnError, match="Step 10 is not there; expected 1 to 9"):
        two_rectangles(10)

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score
from tests.untyped import untyped

from chmcnn import ChmcnnError
from chmcnn.datasets import Dataset
from chmcnn.datasets.synthetic import learnable, nine_rectangles, random_hierarchy, two_rectangles


def share_inside(step: int) -> float:
    """How much of the smaller rectangle lies in the bigger one."""
    smaller, bigger = two_rectangles(step, rows=1).rectangles
    across = np.clip((smaller.left + smaller.width - bigger.left) / smaller.width, 0, 1)
    up = np.clip((smaller.bottom + smaller.height - bigger.bottom) / smaller.height, 0, 1)
    return float(across * up)


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
    assert a.mean() == pytest.approx(0.211**2, abs=0.01)
    outside = (problem.X[:, 0] < 0.3) | (problem.X[:, 1] > 0.995)
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
    with pytest.raises(ChmcnnError, match="step is 10; expected 1 to 9"):
        two_rectangles(10)


def test_nine_rectangles_are_those_of_the_paper() -> None:
    problem = nine_rectangles(rows=20_000, seed=1)
    names = problem.hierarchy.classes
    assert names == tuple(f"A{number}" for number in range(1, 10))
    assert set(problem.hierarchy.descendants("A5")) == set(names) - {"A5"}
    assert set(problem.hierarchy.ancestors("A3")) == set(names) - {"A3"}
    areas = [rectangle.width * rectangle.height for rectangle in problem.rectangles]
    assert areas == pytest.approx([0.09, 0.03, 0.09, 0.03, 0.01, 0.03, 0.09, 0.03, 0.09])
    corners = {name: (r.left, r.bottom) for name, r in zip(names, problem.rectangles, strict=True)}
    assert corners["A1"] == (0.1, 0.6)
    assert corners["A3"] == (0.6, 0.6)
    assert corners["A5"] == (0.45, 0.45)
    assert corners["A7"] == (0.1, 0.1)
    share = dict(zip(names, problem.Y.mean(axis=0), strict=True))
    assert share["A5"] == pytest.approx(sum(areas), abs=0.02)  # everything in any rectangle
    assert share["A3"] == pytest.approx(0.09, abs=0.01)
    assert share["A1"] == pytest.approx(0.18, abs=0.01)  # its own, and those of A3
    assert len(problem.hierarchy.violations(problem.Y)) == 0


def scores_of_a_linear_model(data: Dataset) -> float:
    """Mean average precision of a ridge regression on the test rows, less that of guessing."""
    model = Ridge().fit(data.train.X, data.train.Y.toarray())
    labels = data.test.Y.toarray()
    counted = data.evaluated & labels.any(axis=0) & ~labels.all(axis=0)
    truth, scores = labels[:, counted], model.predict(data.test.X)[:, counted]
    return float(average_precision_score(truth, scores, average="macro") - truth.mean())


def test_learnable_data_can_be_learnt_and_noise_makes_it_harder() -> None:
    gains = [scores_of_a_linear_model(learnable(rows=1500, noise=noise)) for noise in (0.1, 1.0, 10.0)]
    assert gains[0] > gains[1] > gains[2]
    assert gains[0] > 0.5
    assert gains[2] < 0.15


@pytest.mark.parametrize("edges", [None, 400])
def test_learnable_data_has_the_size_asked_for(edges: int | None) -> None:
    data = learnable(rows=500, features=7, classes=300, depth=5, edges=edges, seed=3)
    assert [len(part) for part in data.parts.values()] == [300, 100, 100]
    assert data.train.X.shape == (300, 7)
    assert (len(data.hierarchy), data.hierarchy.depth) == (300, 5)
    assert len(data.hierarchy.edges) == (edges or 299)
    assert data.train.Y.toarray()[:, 0].all()  # every row is below the root
    assert len(data.hierarchy.violations(data.train.Y)) == 0


def test_imbalance_and_labels_are_as_asked_for() -> None:
    def spread(imbalance: float) -> float:
        sizes = learnable(rows=5000, classes=200, depth=1, imbalance=imbalance).train.Y.sum(axis=0)[1:]
        return float(sizes.max() / np.median(sizes))

    assert spread(0) < 3
    assert spread(1) > 20
    for labels in (1, 3):
        data = learnable(rows=5000, classes=2000, depth=1, imbalance=0, labels=labels)
        assert data.train.Y[:, 1:].sum(axis=1).mean() == pytest.approx(labels, rel=0.05)


def test_sizes_of_learnable_data_that_make_no_sense_are_refused() -> None:
    for name, value in {"rows": 4, "features": 0, "labels": 0.5, "imbalance": -1, "noise": float("nan")}.items():
        with pytest.raises(ChmcnnError, match=f"{name} is {value}; expected"):
            learnable(**untyped({name: value}))
    with pytest.raises(ChmcnnError, match="rows is 0"):
        two_rectangles(1, rows=0)

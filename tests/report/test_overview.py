import numpy as np
import pytest

from chmcnn import Hierarchy
from chmcnn.datasets.dataset import Table
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.report import overview


def test_children_stand_below_a_parent_and_leaves_apart() -> None:
    tree = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("b", "d")])
    places = dict(zip(tree, overview.place(tree).tolist(), strict=True))
    assert [places[name][1] for name in "rabcd"] == [0, -1, -1, -2, -2]
    assert places["c"][0] < places["a"][0] < places["d"][0] < places["b"][0]
    assert places["a"][0] < places["r"][0] < places["b"][0]


def test_no_two_leaves_of_a_big_hierarchy_share_a_place() -> None:
    hierarchy = random_hierarchy(2000, edges=3000, depth=12)
    places = overview.place(hierarchy)
    assert len(np.unique(places, axis=0)) == len(hierarchy)
    assert places[:, 0].min() >= 0
    assert places[:, 0].max() <= 1


@pytest.mark.parametrize("classes", [2, 30, 400])
def test_it_draws_hierarchies_of_any_size(classes: int) -> None:
    hierarchy = random_hierarchy(classes, depth=1 if classes == 2 else 4)
    labels = np.random.default_rng(0).random((50, classes)) < 0.01
    table = Table(np.zeros((50, 1)), labels, hierarchy)
    shown = overview.overview("mine", table, np.ones(classes, dtype=bool))
    assert shown.sizes.tolist() == table.Y.sum(axis=0).tolist()
    left, right = overview.draw(shown).axes[:2]
    assert len(left.texts) == (classes if classes <= 40 else 0)
    assert sum(count for _, count in overview.histogram(shown.sizes)) == classes
    assert right.get_title() == f"sizes of {classes} classes"


def test_a_single_class_without_rows_is_drawn() -> None:
    table = Table(np.zeros((1, 1)), np.zeros((1, 1)), Hierarchy(["only"], []))
    overview.draw(overview.overview("one", table, np.ones(1, dtype=bool))).draw_without_rendering()

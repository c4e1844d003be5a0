import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import hierarchies, scores

from chmcnn.hierarchy import follow_best_path


@given(data=st.data(), ties=st.booleans())
def test_each_row_goes_to_the_best_child_down_to_a_leaf(data: st.DataObject, ties: bool) -> None:
    hierarchy = data.draw(hierarchies())
    values = data.draw(scores(hierarchy, 4, ties=ties)).numpy()
    paths: list[list[int]] = [[] for _ in values]
    for rows, classes in follow_best_path(hierarchy, values):
        for row, at in zip(rows.tolist(), classes.tolist(), strict=True):
            paths[row].append(at)
    for row, path in enumerate(paths):
        choices = [hierarchy.index(name) for name in hierarchy.roots]
        for at in path:
            best = max(choices, key=lambda other: (values[row, other], -other))
            assert at == best
            choices = [hierarchy.index(name) for name in hierarchy.children(hierarchy.classes[at])]
        assert not choices


def test_no_rows_have_no_paths() -> None:
    from chmcnn import Hierarchy

    assert list(follow_best_path(Hierarchy.from_edges([("a", "b")]), np.empty((0, 2)))) == []

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.strategies import hierarchies

from chmcnn import Hierarchy


@given(data=st.data())
def test_encoded_labels_have_all_ancestors_and_nothing_else(data: st.DataObject) -> None:
    hierarchy = data.draw(hierarchies())
    sets = data.draw(st.lists(st.sets(st.sampled_from(hierarchy.classes)), max_size=5))
    graph = hierarchy.to_networkx()
    expected = [set(labels).union(*(nx.ancestors(graph, label) for label in labels)) for labels in sets]
    encoded = hierarchy.encode(sets)
    assert hierarchy.decode(encoded) == expected
    np.testing.assert_array_equal(hierarchy.encode_sparse(sets).toarray(), encoded)


@given(data=st.data())
def test_the_most_specific_classes_say_it_all(data: st.DataObject) -> None:
    hierarchy = data.draw(hierarchies())
    sets = data.draw(st.lists(st.sets(st.sampled_from(hierarchy.classes)), max_size=5))
    encoded = hierarchy.encode(sets)
    specific = hierarchy.decode(encoded, most_specific=True)
    np.testing.assert_array_equal(hierarchy.encode(specific), encoded)
    for labels in specific:
        assert not any(labels & set(hierarchy.ancestors(label)) for label in labels)


@given(data=st.data())
def test_closing_is_the_same_for_dense_and_sparse_labels(data: st.DataObject) -> None:
    hierarchy = data.draw(hierarchies())
    seed = data.draw(st.integers(0, 2**32 - 1))
    raw = np.random.default_rng(seed).random((4, len(hierarchy))) < 0.2
    closed = hierarchy.close(raw)
    np.testing.assert_array_equal(closed, hierarchy.encode(hierarchy.decode(raw)))
    np.testing.assert_array_equal(hierarchy.close(sparse.csr_array(raw)).toarray(), closed)


@given(hierarchy=hierarchies())
def test_round_trips_lose_nothing(hierarchy: Hierarchy) -> None:
    assert Hierarchy.from_json(hierarchy.to_json()) == hierarchy
    edges = [(hierarchy.classes[parent], hierarchy.classes[child]) for parent, child in hierarchy.edges.tolist()]
    assert Hierarchy.from_edges(reversed(edges), classes=hierarchy.classes) == hierarchy
    again = Hierarchy.from_networkx(hierarchy.to_networkx())
    assert again == Hierarchy.from_edges(edges, classes=sorted(hierarchy.classes))


@given(hierarchy=hierarchies())
def test_depths_and_relatives_agree_with_networkx(hierarchy: Hierarchy) -> None:
    graph = hierarchy.to_networkx()
    assert hierarchy.depth == nx.dag_longest_path_length(graph)
    assert set(hierarchy.roots) == {name for name, degree in graph.in_degree() if not degree}
    assert set(hierarchy.leaves) == {name for name, degree in graph.out_degree() if not degree}
    for name in hierarchy.classes:
        assert set(hierarchy.parents(name)) == set(graph.predecessors(name))
        assert set(hierarchy.children(name)) == set(graph.successors(name))
        assert set(hierarchy.ancestors(name)) == nx.ancestors(graph, name)
        assert set(hierarchy.descendants(name)) == nx.descendants(graph, name)

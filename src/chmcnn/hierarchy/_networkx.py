"""Hierarchies from graphs of networkx, and the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx

from chmcnn import _wording
from chmcnn.errors import HierarchyError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chmcnn.hierarchy._hierarchy import Hierarchy


def parse(graph: nx.DiGraph[str]) -> tuple[list[tuple[str, str]], list[str], dict[str, str]]:
    """Return the edges, the classes in column order, and their titles, which may be empty."""
    if not isinstance(graph, nx.DiGraph):
        kind = type(graph).__name__
        raise HierarchyError(
            f"The graph is of type {kind}; expected a networkx.DiGraph with edges from parent to child."
        )
    titles = {node: _find_title(attributes) for node, attributes in graph.nodes(data=True)}
    return [(edge[0], edge[1]) for edge in graph.edges()], _wording.sort_names(graph.nodes()), titles


def _find_title(attributes: Mapping[str, object]) -> str:
    texts = (attributes.get(name) for name in ("title", "name"))
    return next((text for text in texts if isinstance(text, str)), "")


def to_graph(hierarchy: Hierarchy) -> nx.DiGraph[str]:
    """Return a graph with edges from parent to child, and titles as node attributes."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(hierarchy.classes)
    for name, title in hierarchy.titles.items():
        graph.nodes[name]["title"] = title
    names = hierarchy.classes
    graph.add_edges_from((names[parent], names[child]) for parent, child in hierarchy.edges.tolist())
    return graph

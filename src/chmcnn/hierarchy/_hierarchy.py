"""`Hierarchy`: an immutable, validated DAG of named classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from chmcnn import _wording
from chmcnn.errors import HierarchyError
from chmcnn.hierarchy import _edges, _graph, _json, _matrices, _paths, _titles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import networkx as nx
    from numpy.typing import ArrayLike, NDArray
    from scipy import sparse


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """Classes and the edges between them: a tree, a DAG, or several of them side by side.

    Every edge goes from a parent to a child: every row of the child is a row of the parent. Time and memory are linear
    in the number of classes and edges. A hierarchy is immutable.

    Parameters
    ----------
    classes
        The names, all different, in column order of every label and score matrix.
    edges
        One row for each edge: the positions of parent and child in ``classes``. Duplicates are ignored.
    titles
        Readable names of some or all classes, for reports and predictions: two hierarchies are equal if only their
        titles differ.

    Attributes
    ----------
    classes : tuple of str
        The names, in column order.
    edges : (edges, 2) array of int
        Positions of parent and child of each edge, sorted, read-only.
    titles : mapping from str to str
        The title of each class that has one, in column order, read-only.
    depths : (classes,) array of int
        The longest path from a root to each class, read-only.

    Examples
    --------
    >>> hierarchy = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])
    >>> hierarchy
    Hierarchy(4 classes, 3 edges, 2 roots, depth 1)
    >>> hierarchy.classes
    ('animal', 'cat', 'dog', 'pet')
    >>> hierarchy.ancestors("dog")
    ('animal', 'pet')
    >>> hierarchy.encode([{"dog"}, {"cat"}]).astype(int)
    array([[1, 0, 1, 1],
           [1, 1, 0, 0]])
    """

    classes: tuple[str, ...]
    edges: NDArray[np.int64]
    titles: Mapping[str, str]
    depths: NDArray[np.int64] = field(init=False)
    _positions: dict[str, int] = field(init=False)
    _below: _graph.Neighbours = field(init=False)
    _above: _graph.Neighbours = field(init=False)

    def __init__(self, classes: Sequence[str], edges: ArrayLike, titles: Mapping[str, str] | None = None) -> None:
        names = tuple(str(name) if isinstance(name, str) else name for name in classes)
        positions = _wording.index_names(names)
        pairs = _edges.as_positions(edges, names)
        below = _graph.Neighbours.of(len(names), pairs)
        depths = _graph.depths(below)
        if (depths < 0).any():
            raise HierarchyError(_edges.cycle_message([names[node] for node in _graph.find_cycle(pairs, depths)]))
        values = {
            "classes": names,
            "edges": pairs,
            "titles": _titles.as_titles(titles, positions),
            "depths": depths,
            "_positions": positions,
            "_below": below,
            "_above": _graph.Neighbours.of(len(names), pairs[:, ::-1]),
        }
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    # Constructors

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[str, str]],
        classes: Iterable[str] | None = None,
        titles: Mapping[str, str] | None = None,
    ) -> Self:
        """Build from (parent, child) names.

        By default the classes are all names in ``edges``, sorted. ``classes`` sets the classes and their order: for
        existing columns, and for classes without edges. ``titles`` has readable names of classes.

        >>> Hierarchy.from_edges([("animal", "dog")], classes=["dog", "animal", "plant"]).roots
        ('animal', 'plant')
        >>> Hierarchy.from_edges([("2", "21")], titles={"21": "tennis"}).title("21")
        'tennis'
        """
        pairs = [_edges.as_edge(edge, number) for number, edge in enumerate(edges)]
        names = tuple(_wording.sort_names(name for pair in pairs for name in pair) if classes is None else classes)
        positions = {name: position for position, name in enumerate(names)}
        try:
            indices = np.array([positions[name] for pair in pairs for name in pair], dtype=np.int64).reshape(-1, 2)
        except KeyError as error:
            raise HierarchyError(
                f"{_wording.describe_unknown(error.args[0], names)} It is in an edge: add it to classes."
            ) from None
        return cls(names, indices, titles)

    @classmethod
    def from_paths(cls, paths: Iterable[str], separator: str = "/") -> Self:
        """Build a tree from paths: the parent of ``"01/04/02"`` is ``"01/04"``, whose parent is ``"01"``.

        >>> Hierarchy.from_paths(["01/04/02", "02"]).classes
        ('01', '01/04', '01/04/02', '02')
        """
        return cls.from_edges(*_paths.parse(paths, separator))

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[str]) -> Self:
        """Build from a networkx graph whose edges point from parent to child; its nodes are the names.

        Titles come from the node attribute ``title`` or, without it, ``name``.

        >>> import networkx as nx
        >>> Hierarchy.from_networkx(nx.DiGraph([("animal", "dog")])).classes
        ('animal', 'dog')
        """
        from chmcnn.hierarchy import _networkx

        return cls.from_edges(*_networkx.parse(graph))

    @classmethod
    def from_csv(
        cls,
        path: str | Path,
        *,
        parent: str = "parent",
        child: str = "child",
        title: str | None = None,
        delimiter: str = ",",
    ) -> Self:
        """Build from a text file of edges with a header; a row with an empty parent is a class without parents.

        Parameters
        ----------
        path
            A UTF-8 table, plain or with ``.gz``, such as the lines ``parent,child``, ``animal,dog``, ``animal,cat``
            and ``,plant``.
        parent, child
            Names of the two columns; other columns are ignored.
        title
            Name of the column with the title of the child; by default ``title`` or ``name``, if there is one. A row
            with an empty parent gives the title of a root.
        delimiter
            Separator between cells.
        """
        rows, titles = _edges.read_file(Path(path), _edges.EdgeColumns(parent, child, title), delimiter)
        names = _wording.sort_names(name for row in rows for name in row if name)
        try:
            return cls.from_edges(((above, below) for above, below in rows if above), names, titles)
        except HierarchyError as error:
            raise HierarchyError(f"{path}: {error}") from None

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Build from the text of `to_json`.

        >>> hierarchy = Hierarchy.from_edges([("animal", "dog")])
        >>> Hierarchy.from_json(hierarchy.to_json()) == hierarchy
        True
        """
        return cls(*_json.parse(text))

    # Classes

    def __len__(self) -> int:
        """Return the number of classes."""
        return len(self.classes)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names in column order."""
        return iter(self.classes)

    def __contains__(self, name: object) -> bool:
        """Whether a class has that name."""
        return name in self._positions

    def index(self, name: str) -> int:
        """Return the position of a class: its column in label and score matrices."""
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            raise HierarchyError(_wording.describe_unknown(name, self.classes)) from None

    def title(self, name: str) -> str:
        """Return the title of a class, or its name if it has none.

        >>> Hierarchy.from_edges([("2", "21")], titles={"21": "tennis"}).title("2")
        '2'
        """
        self.index(name)
        return self.titles.get(name, name)

    def describe(self, name: str) -> str:
        """Return the name of a class with its title, if it has one.

        >>> Hierarchy.from_edges([("2", "21")], titles={"21": "tennis"}).describe("21")
        '21 tennis'
        """
        title = self.title(name)
        return name if title == name else f"{name} {title}"

    def with_titles(self, titles: Mapping[str, str]) -> Hierarchy:
        """Return the same classes and edges with other titles.

        >>> Hierarchy.from_paths(["2/21"]).with_titles({"2": "sport", "2/21": "tennis"}).title("2/21")
        'tennis'
        """
        return Hierarchy(self.classes, self.edges, titles)

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a class."""
        return self._name(self._above[self.index(name)])

    def children(self, name: str) -> tuple[str, ...]:
        """Return the children of a class."""
        return self._name(self._below[self.index(name)])

    def ancestors(self, name: str) -> tuple[str, ...]:
        """Return the ancestors of a class, in column order, without the class itself."""
        return self._name(self._above.reachable(self.index(name)))

    def descendants(self, name: str) -> tuple[str, ...]:
        """Return the descendants of a class, in column order, without the class itself."""
        return self._name(self._below.reachable(self.index(name)))

    @property
    def roots(self) -> tuple[str, ...]:
        """Classes without a parent."""
        return self._name(self._above.without_any())

    @property
    def leaves(self) -> tuple[str, ...]:
        """Classes without a child."""
        return self._name(self._below.without_any())

    @property
    def depth(self) -> int:
        """Number of edges on the longest path."""
        return int(self.depths.max())

    def bottom_up(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the edges in bottom-up order, and the number of edges of each level.

        A level has the edges whose parents have the same depth, sorted; the deepest comes first. A pass over the edges
        in this order completes each class before its parents, and can process a level at once.
        """
        depth = self.depths[self.edges[:, 0]]
        sizes = np.bincount(depth, minlength=self.depth)[::-1]
        return self.edges[np.argsort(-depth, kind="stable")], sizes

    @cached_property
    def reversed(self) -> Hierarchy:
        """The same classes with reversed edges: ancestors become descendants.

        >>> Hierarchy.from_edges([("animal", "dog")]).reversed.ancestors("animal")
        ('dog',)
        """
        return Hierarchy(self.classes, self.edges[:, ::-1], self.titles)

    def restrict(self, names: Iterable[str]) -> Hierarchy:
        """Keep some classes and all of their ancestors, in column order.

        >>> Hierarchy.from_paths(["01/04/02", "02"]).restrict(["01/04"]).classes
        ('01', '01/04')
        """
        kept = np.zeros(len(self), dtype=np.bool_)
        kept[[self.index(name) for name in names]] = True
        kept = _matrices.close(self, kept[None])[0]
        edges = self.edges[kept[self.edges].all(axis=1)]
        classes = self._name(np.flatnonzero(kept))
        titles = {name: self.titles[name] for name in classes if name in self.titles}
        return Hierarchy(classes, (np.cumsum(kept) - 1)[edges], titles)

    # Labels and scores

    def encode(self, label_sets: Iterable[Collection[str]]) -> NDArray[np.bool_]:
        """Turn label sets into a boolean matrix, with the ancestors of every label added.

        >>> Hierarchy.from_paths(["01/04", "02"]).encode([{"01/04"}, {"02"}, set()])
        array([[ True,  True, False],
               [False, False,  True],
               [False, False, False]])
        """
        return _matrices.encode(self, label_sets).toarray()

    def encode_sparse(self, label_sets: Iterable[Collection[str]]) -> sparse.csr_array:
        """Encode as a scipy sparse matrix: for many rows of many classes."""
        return _matrices.encode(self, label_sets)

    def decode(self, labels: ArrayLike | sparse.sparray, *, most_specific: bool = False) -> list[set[str]]:
        """Turn a 0/1 matrix, dense or sparse, into label sets.

        With ``most_specific``, a class is omitted if one of its children is in the row.

        >>> Hierarchy.from_paths(["01/04", "02"]).decode([[1, 1, 0]], most_specific=True)
        [{'01/04'}]
        """
        return _matrices.decode(self, labels, most_specific=most_specific)

    @overload
    def close(self, labels: ArrayLike) -> NDArray[np.bool_]: ...
    @overload
    def close(self, labels: sparse.sparray) -> sparse.csr_array: ...
    def close(self, labels: ArrayLike | sparse.sparray) -> NDArray[np.bool_] | sparse.csr_array:
        """Add to each row of a 0/1 matrix the ancestors of its classes: dense for dense, sparse for sparse.

        >>> Hierarchy.from_paths(["01/04", "02"]).close([[0, 1, 0]])
        array([[ True,  True, False]])
        """
        return _matrices.close(self, labels)

    def violations(self, scores: ArrayLike | sparse.sparray) -> _matrices.Violations:
        """Return where a child scores above its parent.

        Without violations on edges, no class scores above any of its ancestors.

        >>> Hierarchy.from_edges([("animal", "dog")]).violations([[0.9, 0.2], [0.2, 0.9]])
        1 violation in 2 rows, the first in row 1: 'dog' has 0.9, its parent 'animal' 0.2
        """
        return _matrices.violations(self, scores)

    # Conversion

    def to_networkx(self) -> nx.DiGraph[str]:
        """Copy into a networkx graph with edges from parent to child; titles are the node attribute ``title``."""
        from chmcnn.hierarchy import _networkx

        return _networkx.to_graph(self)

    def to_json(self, *, titles: bool = True) -> str:
        """Return JSON text for `from_json`, with or without titles."""
        return _json.dump(self.classes, self.edges.tolist(), self.titles if titles else None)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same classes, in the same order, and the same edges; titles do not count."""
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self is other or (self.classes == other.classes and np.array_equal(self.edges, other.edges))

    def __hash__(self) -> int:
        """Hash the sizes and two names only: caches call it often."""
        return hash((len(self), len(self.edges), self.classes[0], self.classes[-1]))

    def __repr__(self) -> str:
        """Show the size."""
        counts = (
            _wording.count(len(self), "class"),
            _wording.count(len(self.edges), "edge"),
            _wording.count(len(self.roots), "root"),
            f"depth {self.depth}",
        )
        return f"Hierarchy({', '.join(counts)})"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        """Copy and pickle the arguments only."""
        return type(self), (self.classes, self.edges, dict(self.titles))

    def __copy__(self) -> Self:
        """Return itself: it is immutable."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: it is immutable."""
        return self

    def _name(self, positions: NDArray[np.int64]) -> tuple[str, ...]:
        return tuple(self.classes[position] for position in positions.tolist())

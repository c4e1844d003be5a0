import copy
import dataclasses
import gzip
import pickle
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from tests.untyped import untyped

from chmcnn import Hierarchy, HierarchyError, LabelError, ScoreError
from chmcnn.datasets.synthetic import random_hierarchy

PETS = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])


def test_classes_are_sorted_whatever_the_order_of_edges() -> None:
    edges = [("pet", "dog"), ("animal", "cat"), ("animal", "dog")]
    assert Hierarchy.from_edges(edges) == Hierarchy.from_edges(reversed(edges)) == PETS
    assert PETS.classes == ("animal", "cat", "dog", "pet")


def test_columns_of_a_frame_are_found_by_their_names() -> None:
    columns = ["cat", "dog", "pet", "animal"]
    dog, scores = pd.DataFrame([[0, 1, 0, 0]], columns=columns), pd.DataFrame([[0.2, 0.8, 0.9, 0.9]], columns=columns)
    assert PETS.decode(PETS.close(dog)) == [{"animal", "dog", "pet"}]
    assert PETS.decode(dog) == [{"dog"}]
    assert len(PETS.violations(scores)) == 0
    assert len(PETS.violations(scores.to_numpy())) == 2
    assert PETS.decode(dog.set_axis(range(4), axis=1)) == [{"cat"}]  # by position, where they are no names
    many = random_hierarchy(20_000, depth=5)  # in which a search for each name would take minutes
    turned = pd.DataFrame(np.zeros((1, 20_000)), columns=many.classes[::-1])
    turned[many.classes[7]] = 1
    assert many.decode(turned) == [{many.classes[7]}]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_a_file_of_edges_may_have_another_delimiter_than_a_comma(delimiter: str, tmp_path: Path) -> None:
    rows = [("parent", "child"), ("animal", "dog"), ("animal", "cat"), ("pet", "dog")]
    (tmp_path / "edges.csv").write_text("\n".join(map(delimiter.join, rows)))
    assert Hierarchy.from_csv(tmp_path / "edges.csv") == PETS


def test_given_classes_keep_their_order_and_need_no_edge() -> None:
    hierarchy = Hierarchy.from_edges([("animal", "dog")], classes=["plant", "dog", "animal"])
    assert hierarchy.classes == ("plant", "dog", "animal")
    assert hierarchy.roots == ("plant", "animal")
    assert hierarchy.leaves == ("plant", "dog")
    assert Hierarchy.from_edges([], classes=["a", "b"]).depth == 0


def test_an_edge_given_twice_counts_once() -> None:
    assert len(Hierarchy.from_edges([("a", "b"), ("a", "b")]).edges) == 1


def test_paths_make_a_tree_of_their_prefixes() -> None:
    hierarchy = Hierarchy.from_paths(["01/04/02", "01/05", "02"])
    assert hierarchy.classes == ("01", "01/04", "01/04/02", "01/05", "02")
    assert hierarchy.parents("01/04/02") == ("01/04",)
    assert Hierarchy.from_paths(["a>b"], separator=">").parents("a>b") == ("a",)


def test_csv_of_edges(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("child,since,parent\ndog,1,animal\ncat,2,animal\ndog,3,pet\nplant,4,\n\n", encoding="utf-8")
    hierarchy = Hierarchy.from_csv(file)
    assert hierarchy.classes == ("animal", "cat", "dog", "pet", "plant")
    assert hierarchy.parents("dog") == ("animal", "pet")
    assert hierarchy.parents("plant") == ()
    file.write_text("up;down\nanimal;dog\n", encoding="utf-8-sig")
    assert Hierarchy.from_csv(file, parent="up", child="down", delimiter=";").classes == ("animal", "dog")


def test_asking_for_relatives() -> None:
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("x", "c")])
    assert hierarchy.parents("c") == ("a", "b", "x")
    assert hierarchy.children("a") == ("b", "c")
    assert hierarchy.ancestors("c") == ("a", "b", "x")
    assert hierarchy.descendants("a") == ("b", "c")
    assert hierarchy.depth == 2
    assert hierarchy.depths.tolist() == [0, 1, 2, 0]
    assert list(hierarchy) == ["a", "b", "c", "x"]
    assert "c" in hierarchy
    assert "C" not in hierarchy
    assert len(hierarchy) == 4


def test_decode_gives_all_or_the_most_specific() -> None:
    matrix = [[1, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert PETS.decode(matrix) == [{"animal", "dog", "pet"}, {"animal", "cat"}, set()]
    assert PETS.decode(sparse.csr_array(matrix), most_specific=True) == [{"dog"}, {"cat"}, set()]


def test_violations_say_where() -> None:
    found = PETS.violations([[0.9, 0.1, 0.5, 0.6], [0.2, 0.1, 0.5, 0.4]])
    assert len(found) == 2
    assert found.row.tolist() == [1, 1]
    assert {(PETS.classes[p], PETS.classes[c]) for p, c in zip(found.parent, found.child, strict=True)} == {
        ("animal", "dog"),
        ("pet", "dog"),
    }
    assert "2 violations in 2 rows, the first in row 1: 'dog' has 0.5, its parent 'animal' 0.2" in repr(found)
    assert repr(PETS.violations(np.zeros((3, 4)))) == "0 violations in 3 rows"


def test_it_never_changes() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        untyped(PETS).classes = ()
    with pytest.raises(ValueError, match="read-only"):
        PETS.edges[0, 0] = 1
    assert copy.deepcopy(PETS) is PETS
    assert copy.copy(PETS) is PETS


def test_equality_and_pickling() -> None:
    again = pickle.loads(pickle.dumps(PETS))
    assert again == PETS
    assert hash(again) == hash(PETS)
    assert Hierarchy.from_edges([("animal", "dog")]) != PETS
    assert PETS != "PETS"


def test_repr_is_short() -> None:
    assert repr(random_hierarchy(2000, depth=5)) == "Hierarchy(2,000 classes, 1,999 edges, 1 root, depth 5)"


CYCLE = [("d", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "e")]
BAD: dict[str, tuple[Callable[[], object], str]] = {
    "cycle": (
        lambda: Hierarchy.from_edges(CYCLE),
        r"The edges form a cycle, from parent to child: (a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c)\. Remove",
    ),
    "long cycle": (
        lambda: Hierarchy.from_edges([(f"c{i}", f"c{(i + 1) % 100}") for i in range(100)]),
        r"cycle, from parent to child: c\d+ -> .* \(91 more\) -> c\d+ -> c\d+\. Remove",
    ),
    "self-loop": (lambda: Hierarchy.from_edges([("a", "b"), ("b", "b")]), "Class 'b' is its own parent"),
    "duplicate name": (
        lambda: Hierarchy.from_edges([], classes=["a", "b", "a"]),
        "'a' appears twice, at positions 0 and 2",
    ),
    "empty name": (lambda: Hierarchy.from_edges([("a", " ")]), "Edge 0 is .*; a class name must not be empty"),
    "name of another type": (
        lambda: Hierarchy.from_edges(untyped([("a", 3)])),
        "Edge 0 is .*3.; expected a pair .* both strings",
    ),
    "empty": (lambda: Hierarchy.from_edges([]), "The hierarchy is empty; expected at least one class"),
    "edge that is no pair": (
        lambda: Hierarchy.from_edges(untyped([("a", "b", "c")])),
        r"Edge 0 is \('a', 'b', 'c'\); expected a pair",
    ),
    "edge that is a string": (
        lambda: Hierarchy.from_edges(untyped(["ab"])),
        "Edge 0 is 'ab'; expected a pair .* Pass the rows of a DataFrame: frame.itertuples",
    ),
    "edge to an unknown class": (
        lambda: Hierarchy.from_edges([("animal", "dgo")], classes=["animal", "dog"]),
        "Unknown class 'dgo'. Did you mean 'dog'\\? It is in an edge: add it to classes",
    ),
    "position outside": (
        lambda: Hierarchy(["a", "b"], [(0, 2)]),
        r"Edge \[0, 2\] has a position outside the 2 classes, 0 to 1",
    ),
    "positions of another type": (
        lambda: Hierarchy(["a", "b"], [(0.0, 1.0)]),
        r"shape \(1, 2\) and type float64; expected rows",
    ),
    "unknown class": (lambda: PETS.index("Dog"), "Unknown class 'Dog'. Did you mean 'dog'"),
    "unknown class, none alike": (lambda: PETS.parents("quartz"), "Unknown class 'quartz'.$"),
    "class of another type": (
        lambda: PETS.children(untyped(3)),
        "Unknown class 3. It is of type int, but names are strings",
    ),
    "path with an empty part": (
        lambda: Hierarchy.from_paths(["01//02"]),
        "Path '01//02' is not a string of non-empty parts separated by '/'",
    ),
    "undirected graph": (
        lambda: Hierarchy.from_networkx(untyped(nx.Graph([("a", "b")]))),
        "The graph is of type Graph; expected a networkx.DiGraph",
    ),
    "paths that are one string": (
        lambda: Hierarchy.from_paths("a/b"),
        "Paths are 'a/b' and the separator is '/'; expected a list",
    ),
    "path that is no string": (
        lambda: Hierarchy.from_paths(untyped([("a", "b")])),
        "is not a string of non-empty parts",
    ),
    "edges of different lengths": (lambda: Hierarchy(["a", "b"], [[0, 1], [0]]), "Edges have different lengths"),
    "edge that is a number": (lambda: Hierarchy.from_edges(untyped([1])), "Edge 0 is 1; expected a pair"),
    "JSON that is a path": (lambda: Hierarchy.from_json(untyped(Path("h.json"))), "The text of the hierarchy is not"),
    "no JSON": (lambda: Hierarchy.from_json("{"), "not valid JSON"),
    "other JSON": (lambda: Hierarchy.from_json("[]"), "not a hierarchy"),
    "JSON of a newer version": (
        lambda: Hierarchy.from_json('{"format": "chmcnn-hierarchy", "version": 2}'),
        "has version 2, but this chmcnn reads version 1",
    ),
    "JSON without classes": (
        lambda: Hierarchy.from_json('{"format": "chmcnn-hierarchy", "version": 1, "edges": []}'),
        'expected the lists "classes" and "edges"',
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_hierarchies_are_refused(case: str) -> None:
    build, message = BAD[case]
    with pytest.raises(HierarchyError, match=message):
        build()


BAD_CSV = {
    "no such column": (
        "from,to\na,b\n",
        "line 1: Expected one column 'parent', but the columns are \\['from', 'to'\\]",
    ),
    "empty file": ("", "line 1: There is no header; expected one with the columns"),
    "two columns of one name": ("parent,child,child\na,b,c\n", "Expected one column 'child'"),
    "empty child": ("parent,child\na,b\na,\n", "line 3: Column 'child' is empty"),
    "ragged row": ("parent,child\na,b\na\n", "line 3: The row has 1 cell, but the header has 2"),
    "cycle": ("parent,child\na,b\nb,a\n", "edges.csv: The edges form a cycle"),
    "only a header": ("parent,child\n", "edges.csv: The hierarchy is empty"),
    "spaces in the header": ("parent , child\na,\n", "line 2: Column 'child' is empty"),
    "open quote": ('parent,child\n"a,b\n', "edges.csv, line 2: unexpected end of data"),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_bad_edge_files_are_refused(case: str, tmp_path: Path) -> None:
    text, message = BAD_CSV[case]
    (tmp_path / "edges.csv").write_text(text, encoding="utf-8")
    with pytest.raises(HierarchyError, match=message):
        Hierarchy.from_csv(tmp_path / "edges.csv")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_bytes(b"parent,child\n\xff\xfe,b\n")
    with pytest.raises(HierarchyError, match=r"edges\.csv, line 2, column 1: the file is not text in UTF-8"):
        Hierarchy.from_csv(tmp_path / "edges.csv")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv.gz"
    with pytest.raises(HierarchyError, match=r"edges\.csv\.gz: the file cannot be read: No such file"):
        Hierarchy.from_csv(file)
    content = gzip.compress(b"parent,child\n" + b"".join(b"a,b%d\n" % number for number in range(1000)))
    for damaged in (content[:-100], b"parent,child\na,b\n", content[:50] + b"\xff" * 50 + content[100:]):
        file.write_bytes(damaged)
        with pytest.raises(HierarchyError, match=r"edges\.csv\.gz(, line \d+)?: the file is not a complete gzip file"):
            Hierarchy.from_csv(file)
    file.write_bytes(content)
    assert len(Hierarchy.from_csv(file)) == 1001


def test_every_kind_of_line_end_is_read(tmp_path: Path) -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        (tmp_path / "edges.csv").write_bytes(end.join([b"parent,child", b"a,b", b'a,"c"', b""]))
        assert Hierarchy.from_csv(tmp_path / "edges.csv").classes == ("a", "b", "c")


BAD_LABELS: dict[str, tuple[Callable[[], object], str]] = {
    "unknown label": (lambda: PETS.encode([{"dog"}, {"dgo"}]), "Row 1: Unknown class 'dgo'. Did you mean 'dog'"),
    "string for a set": (lambda: PETS.encode(["dog"]), "Row 0 is 'dog'; expected a set .* such as {'dog'}"),
    "number for a set": (lambda: PETS.encode(untyped([{"dog"}, 3])), "Row 1 is 3; expected a set"),
    "nothing for a set": (lambda: PETS.encode(untyped([None])), "Row 0 is None; expected a set"),
    "too few columns": (lambda: PETS.close([[1, 0]]), r"shape \(1, 2\), but the hierarchy has 4 classes"),
    "one dimension": (lambda: PETS.decode([1, 0, 1, 1]), r"shape \(4,\), but"),
    "neither 0 nor 1": (
        lambda: PETS.close([[0, 0.5, 1, 0]]),
        "have the value 0.5 in row 0, class 'cat'; expected only 0 and 1",
    ),
    "NaN": (lambda: PETS.close([[0, np.nan, 1, 0]]), "have the value nan in row 0, class 'cat'; expected"),
    "sparse, neither 0 nor 1": (
        lambda: PETS.decode(sparse.csr_array([[0, 2, 1, 0]])),
        "have the value 2 in row 0, class 'cat'",
    ),
}


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_refused(case: str) -> None:
    use, message = BAD_LABELS[case]
    with pytest.raises(LabelError, match=message):
        use()


def test_bad_scores_are_refused() -> None:
    with pytest.raises(ScoreError, match=r"Scores have shape \(1, 3\), but the hierarchy has 4 classes"):
        PETS.violations([[0.1, 0.2, 0.3]])
    with pytest.raises(ScoreError, match="row 0 of class 'cat' is NaN"):
        PETS.violations([[0.1, np.nan, 0.3, 0.4]])


def test_a_delimiter_is_one_character(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("parent,,child\na,,b\n", encoding="utf-8")
    with pytest.raises(HierarchyError, match="delimiter is ',,'; expected one character"):
        Hierarchy.from_csv(tmp_path / "edges.csv", delimiter=",,")


def test_names_and_edges_of_numpy_are_taken() -> None:
    hierarchy = Hierarchy.from_edges(np.array([["a", "b"]]))
    assert [type(name) for name in hierarchy.classes] == [str, str]
    assert Hierarchy(hierarchy.classes, np.array([[0, 1]], dtype=np.uint64)) == hierarchy


def test_tensors_are_taken_for_labels_and_scores() -> None:
    scores = torch.tensor([[0.1, 0.2, 0.3, 0.4]], dtype=torch.bfloat16, requires_grad=True)
    assert len(PETS.violations(scores)) == 2
    assert PETS.decode(torch.tensor([[1, 0, 0, 1]])) == [{"animal", "pet"}]


def test_encoding_a_long_chain_is_not_quadratic() -> None:
    assert calls_to_encode_a_chain(500) < 2.1 * calls_to_encode_a_chain(250)


def calls_to_encode_a_chain(size: int) -> int:
    chain = Hierarchy([f"c{i:04}" for i in range(size)], [(i, i + 1) for i in range(size - 1)])
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        labels = chain.encode([set(chain.classes), {chain.classes[-1]}])
    finally:
        sys.setprofile(None)
    assert labels.all()
    return calls


def test_a_hierarchy_may_have_a_million_classes() -> None:
    parents = np.random.default_rng(0).integers(0, np.arange(1, 1_000_000))
    edges = np.column_stack((parents, np.arange(1, 1_000_000)))
    hierarchy = Hierarchy([f"c{number}" for number in range(1_000_000)], edges)
    assert len(hierarchy) == 1_000_000
    assert len(hierarchy.ancestors("c999999")) == hierarchy.depths[hierarchy.index("c999999")]
    with pytest.raises(HierarchyError, match=r"Unknown class 'C123'\. Did you mean 'c1"):
        hierarchy.index("C123")


def test_memory_grows_with_edges_not_with_ancestor_pairs() -> None:
    tracemalloc.start()
    try:
        chain = Hierarchy([f"c{i}" for i in range(6000)], [(i, i + 1) for i in range(5999)])  # 18 million pairs
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert chain.depth == 5999
    assert held < 300 * len(chain)
